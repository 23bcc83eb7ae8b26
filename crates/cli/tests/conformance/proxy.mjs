// The suite sends no token, and asks for tools and resources of a server made
// for it: this proxy adds the token, and asks for our tools and resources instead.
import { createServer, request } from "node:http"

const [port, token] = process.argv.slice(2)
const OURS = {
  test_simple_text: "who",
  test_error_handling: "explain",
  test_simple_prompt: "primer",
  "test://static-text": "consort://overview",
  "test://watched-resource": "consort://inbox",
}
const ours = (text) => Object.entries(OURS).reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), text)

createServer(async (incoming, outgoing) => {
  let body = ""
  for await (const part of incoming) body += part
  body = ours(body)
  const headers = { ...incoming.headers, authorization: `Bearer ${token}` }
  // The later protocol names the tool or resource in a header, too.
  if (headers["mcp-name"]) headers["mcp-name"] = ours(headers["mcp-name"])
  if (body) headers["content-length"] = Buffer.byteLength(body)
  const { method, url: path } = incoming
  const onward = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers)
    answer.pipe(outgoing)
  })
  onward.on("error", () => outgoing.destroy())
  outgoing.on("close", () => onward.destroy())
  onward.end(body)
}).listen(0, "127.0.0.1", function () {
  console.log(this.address().port)
})
