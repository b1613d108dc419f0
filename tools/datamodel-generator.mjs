// A Prisma generator that only outputs the datamodel. Prisma talks JSON-RPC to it: lines in on stdin, out on
// stderr.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , output] = process.argv;

const answers = {
  getManifest: () => ({ manifest: { prettyName: 'datamodel', defaultOutput: '.' } }),
  generate: ({ dmmf }) => {
    writeFileSync(output, JSON.stringify(dmmf.datamodel));
    return null;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  console.error(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? null }));
}
