import { afterAll, beforeAll, expect, it } from 'vitest';
import { BatchClient, YES, chatLine, linesText } from '../batch-client.js';
import { Platform } from '../platform.js';
import { Reconciliation, nanoCost } from '../reconciliation.js';
import { type Cost, eventually } from '../response-bodies.js';
import { ScriptedBackend } from '../scripted-backend.js';

/** More batches of an account than run at once. */
const BATCHES = 5;
const LINES = 30;

let backend: ScriptedBackend;
let platform: Platform;

beforeAll(async () => {
  backend = await ScriptedBackend.start();
  platform = await Platform.start({
    models: [{ id: 'scripted', backends: [{ url: backend.url, model: 'scripted' }] }],
  });
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

const named = (name: string): object =>
  chatLine(name, { model: 'scripted', messages: [{ role: 'system', content: name }, YES] });

it('each line of batches that several gateways look for is sent and charged once', async () => {
  const { id, apiKey } = await platform.account('5.00');
  const client = new BatchClient(platform, apiKey);
  const names = Array.from({ length: BATCHES }, (_batch, batch) =>
    Array.from({ length: LINES }, (_line, line) => `line ${batch} ${line}`),
  );
  const batches = await Promise.all(names.map((each) => client.begin(linesText(...each.map(named)))));
  const ends = await Promise.all(batches.map((batch) => client.ended(batch, 100_000)));
  const results = await Promise.all(ends.map(({ output_file_id: file }) => client.resultsIn(file)));
  expect(results.map((each) => each.map(({ custom_id: name }) => name))).toEqual(names);
  const sent = backend.requests.map(({ messages }) => messages[0]?.content ?? '');
  expect(sent.filter((name) => name.startsWith('line ')).toSorted()).toEqual(names.flat().toSorted());
  const books = new Reconciliation(id, () => platform);
  for (const { response } of results.flat())
    books.ended.set(response?.request_id ?? '', nanoCost(response?.body['cost'] as Cost));
  await eventually('all are posted', async () => {
    await books.faults();
    return books.charges.size >= books.ended.size;
  });
  expect(books.charges).toEqual(books.ended);
});
