// A client of the official TypeScript SDK: over pipes (`stdio PROGRAM`) or HTTP (`http URL TOKEN`).

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// The SDK is not beside this file: its place is handed in.
const require = createRequire(pathToFileURL(process.env.SDK + '/'))
const load = (path) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/client/' + path)))
const { Client } = await load('index.js')
const { StdioClientTransport } = await load('stdio.js')
const { StreamableHTTPClientTransport } = await load('streamableHttp.js')

const [way, where, token] = process.argv.slice(2)
const transport =
  way === 'stdio'
    ? new StdioClientTransport({ command: where, args: ['mcp'], env: process.env })
    : new StreamableHTTPClientTransport(new URL(where), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
const client = new Client({ name: 'sdk-client', version: '1' })
await client.connect(transport)

const call = async (name, args = {}) => {
  const result = await client.callTool({ name, arguments: args })
  return { data: result.structuredContent, isError: result.isError ?? false }
}
const told = {
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  who: await call('who'),
  send: await call('send', { to: ['Raven'], text: 'hello from TypeScript' }),
  act: await call('act', { actions: [['record-note', { name: 'typescript', description: 'from TypeScript' }]] }),
  query: await call('query', { expr: '(@ (get-entity "typescript") :description)' }),
  mistake: await call('send', { to: ['Nobody'], text: 'x' }),
  overview: (await client.readResource({ uri: 'consort://overview' })).contents[0].text,
}
console.log(JSON.stringify(told))
await client.close()
