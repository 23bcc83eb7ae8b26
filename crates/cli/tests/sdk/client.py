"""A client of the official Python SDK: over pipes (`stdio PROGRAM`) or HTTP (`http URL TOKEN`)."""

import asyncio
import json
import os
import sys

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def talk(read, write):
    async with ClientSession(read, write) as session:
        hello = await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        resources = [str(resource.uri) for resource in (await session.list_resources()).resources]
        prompts = [prompt.name for prompt in (await session.list_prompts()).prompts]

        async def call(name, **arguments):
            # The SDK checks the structured result against what the tool declares.
            result = (await session.call_tool(name, arguments)).model_dump(by_alias=True)
            return {"data": result["structuredContent"], "isError": result["isError"]}

        told = {
            "instructions": hello.instructions,
            "tools": tools,
            "resources": resources,
            "prompts": prompts,
            "who": await call("who"),
            "send": await call("send", to=["Raven"], text="hello from Python"),
            "act": await call("act", actions=[["record-note", {"name": "python", "description": "from Python"}]]),
            "query": await call("query", expr='(@ (get-entity "python") :description)'),
            "mistake": await call("send", to=["Nobody"], text="x"),
            "overview": (await session.read_resource("consort://overview")).contents[0].text,
        }
        print(json.dumps(told))


async def main():
    if sys.argv[1] == "stdio":
        server = StdioServerParameters(command=sys.argv[2], args=["mcp"], env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            await talk(read, write)
    else:
        headers = {"Authorization": f"Bearer {sys.argv[3]}"}
        client = create_mcp_http_client(headers=headers)
        async with streamable_http_client(sys.argv[2], http_client=client) as streams:
            await talk(streams[0], streams[1])


asyncio.run(main())
