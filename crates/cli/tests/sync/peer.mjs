// A program with a document that y-websocket keeps alike with others. Takes jobs
// on stdin, a line of JSON each, and answers each with a line.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [tools, server, room, token] = process.argv.slice(2);
const require = createRequire(tools + '/');
const Y = require('yjs');
const { WebsocketProvider } = require('y-websocket');
const WebSocket = require('ws');

const doc = new Y.Doc();
const [closes, errors] = [[], []];
const provider = new WebsocketProvider(server, room, doc, {
  params: { token }, WebSocketPolyfill: WebSocket, disableBc: true,
});
provider.on('connection-close', (event) => event && closes.push([event.code, event.reason]));
doc.on('update', (update, origin) => { if (origin === provider) arrived.push(update); });
provider.on('connection-error', (event) => errors.push(event.message));
const arrived = [];

const PATIENCE = 30_000;
const until = async (test) => {
  const end = Date.now() + PATIENCE;
  while (!test()) {
    if (Date.now() > end) throw new Error('it did not come: ' + test);
    await new Promise((next) => setTimeout(next, 10));
  }
};

// The newest value of every register, and the members of every set.
const content = () => {
  const entities = {};
  for (const id of doc.share.keys()) {
    const [entity, times] = [{}, {}];
    for (const [key, entry] of doc.getMap(id).entries()) {
      if (!Array.isArray(entry)) continue;
      const [at, value] = entry;
      const name = key.slice(0, key.lastIndexOf('@'));
      const slash = name.indexOf('/');
      if (slash >= 0) (entity[name.slice(0, slash)] ??= []).push(name.slice(slash + 1));
      else if (!(times[name] >= at)) [entity[name], times[name]] = [value, at];
    }
    if (Object.keys(entity).length) entities[id] = entity;
  }
  return entities;
};

const jobs = {
  synced: () => until(() => provider.synced),
  content: async () => content(),
  // Waits until a principle of that name is here.
  has: async ({ name, description }) => {
    const is = (entity) => entity.name === name && (description ?? entity.description) === entity.description;
    const of = () => Object.values(content()).find(is);
    await until(of);
    return of();
  },
  write: async ({ entity, fields, tags = [] }) => {
    const me = '@' + doc.clientID.toString(36);
    const by = { name: 'Viewer' };
    doc.transact(() => {
      const map = doc.getMap(entity);
      for (const [field, value] of Object.entries(fields)) map.set(field + me, [Date.now(), value, by]);
      for (const tag of tags) map.set('tags/' + tag + me, [Date.now(), 0, by]);
    });
  },
  raw: async ({ key, value }) => doc.getMap('foreign').set(key, value),
  frame: async ({ bytes, text }) => provider.ws.send(text ?? new Uint8Array(bytes)),
  closed: async () => {
    await until(() => closes.length);
    return closes.shift();
  },
  refused: async () => {
    await until(() => errors.length);
    return errors.shift();
  },
  disconnect: async () => provider.disconnect(),
  connect: async () => provider.connect(),
  arrived: async () => arrived.length,
  present: async ({ state }) => provider.awareness.setLocalState(state),
  sees: async ({ state }) =>
    until(() => [...provider.awareness.getStates()].some(([id, one]) => id !== doc.clientID && one.is === state.is)),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { job, ...rest } = JSON.parse(line);
  const answer = await jobs[job](rest).then((told) => ({ told: told ?? null }), (error) => ({ error: error.message }));
  process.stdout.write(JSON.stringify(answer) + '\n');
}
process.exit(0);
