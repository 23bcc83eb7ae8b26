// A JavaScript program that reads and writes the layout of `consort-crdt`,
// written from its documentation. Takes a job on stdin, tells on stdout what
// its document then has.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const Y = createRequire(process.argv[2] + '/')('yjs');
const job = JSON.parse(readFileSync(0, 'utf8'));
const doc = new Y.Doc();
const bytes = (text) => Buffer.from(text, 'hex');

const parse = (key) => {
  const at = key.lastIndexOf('@');
  const [path, writer] = [key.slice(0, at), parseInt(key.slice(at + 1), 36)];
  const slash = path.indexOf('/');
  if (slash < 0) return { field: decodeURIComponent(path), writer };
  return { set: decodeURIComponent(path.slice(0, slash)), member: path.slice(slash + 1), writer };
};
const escape = (name) => name.replace(/[%/]/g, encodeURIComponent);

const content = () => {
  const entities = {};
  for (const id of doc.share.keys()) {
    const entity = { registers: {}, sets: {} };
    for (const [key, [at, value, by]] of doc.getMap(id).entries()) {
      const { field, set, member, writer } = parse(key);
      const [slots, name] = field === undefined ? [(entity.sets[set] ??= {}), member] : [entity.registers, field];
      const kept = slots[name];
      if (!kept || at > kept.at || (at === kept.at && writer > kept.writer)) slots[name] = { value, at, writer, by };
    }
    if (Object.keys({ ...entity.registers, ...entity.sets }).length) entities[id] = entity;
  }
  return entities;
};

const edit = ({ entity, set, add, remove }, at, by) => {
  const map = doc.getMap(entity);
  const me = '@' + doc.clientID.toString(36);
  if (set) return map.set(escape(set.field) + me, [at, set.value, by]);
  const place = add ?? remove;
  const path = escape(place.set) + '/' + place.member;
  for (const key of [...map.keys()]) {
    if (key.slice(0, key.lastIndexOf('@')) === path) map.delete(key);
  }
  if (add) map.set(path + me, [at, add.value, by]);
};

for (const step of job) {
  if (step.update) Y.applyUpdate(doc, bytes(step.update));
  if (step.edits) {
    doc.clientID = step.writer;
    doc.transact(() => step.edits.forEach((one) => edit(one, step.at, step.by)));
  }
}
const big = (_, value) => (typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value);
const told = {
  content: content(),
  state: Buffer.from(Y.encodeStateAsUpdate(doc)).toString('hex'),
  vector: Buffer.from(Y.encodeStateVector(doc)).toString('hex'),
};
process.stdout.write(JSON.stringify(told, big));
