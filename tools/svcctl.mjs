#!/usr/bin/env node
// The operator's API from a shell: `npx svcctl --help`, or `npm run operator --`. OPERATOR_URL is where the
// API listens; by default on this machine, on the OPERATOR_PORT of the environment. SVC_OPERATOR_TOKEN is the
// operator's token; by default that of the platform in this folder. So it needs no settings in the image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '@svc/operator-cli';

const {
  OPERATOR_PORT: port = '3001',
  OPERATOR_URL: url = `http://127.0.0.1:${port}`,
  SVC_DATA_DIR: folder = '.svc',
  SVC_OPERATOR_TOKEN,
} = process.env;

function storedToken() {
  try {
    return readFileSync(join(folder, 'operator-token'), 'utf8').trim();
  } catch {
    return undefined;
  }
}

process.exitCode = await runCli({
  args: process.argv.slice(2),
  url,
  token: SVC_OPERATOR_TOKEN ?? storedToken(),
  write: (text) => console.log(text),
  warn: (text) => console.error(text),
});
