import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isLong } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { type Installed, openPython } from './environments.js';
import { KNOWN_FAILURES, type KnownFailure } from './known-failures.js';

const here = fileURLToPath(new URL('.', import.meta.url));

/** In the short form, corners of schemas are left out, which take minutes. */
const CASES = isLong ? 50 : 10;
const PHASES = isLong ? 'examples,coverage,fuzzing,stateful' : 'examples,fuzzing';
const RUN_MS = 540_000;

const python = await openPython();

let platform: Platform;
let folder: string;

beforeAll(async () => {
  platform = await Platform.start({
    characters: [{ slug: 'poet', name: 'Poet', systemPrompt: 'You are a poet.' }],
  });
  folder = await mkdtemp(join(tmpdir(), 'svc-schemathesis-'));
});

afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A key of a separate account, so that runs do not affect each other's accounts. */
async function keyOf(apiKeyType: 'ADMIN' | 'INFERENCE'): Promise<string> {
  const { id } = await platform.account('1000000.00');
  const key = await platform.operator('POST', `/accounts/${id}/api_keys`, { apiKeyType, description: '' });
  return String(key.body['apiKey']);
}

interface Plan {
  readonly name: string;
  readonly description: () => string;
  readonly token: () => Promise<string>;
  readonly operations: readonly string[];
  readonly phases?: string;
}

const publicDescription = (): string => `${platform.apiUrl}/openapi.yaml`;

const PLANS: readonly Plan[] = [
  {
    name: 'chat completions',
    description: publicDescription,
    token: () => keyOf('INFERENCE'),
    // Corners of its schema take too long for the long form too.
    operations: ['--include-operation-id', 'createChatCompletion'],
    phases: 'examples,fuzzing',
  },
  {
    name: 'the rest of the public API',
    description: publicDescription,
    token: () => keyOf('ADMIN'),
    operations: ['--exclude-operation-id', 'createChatCompletion', '--exclude-operation-id', 'revokeApiKey'],
  },
  {
    // Together with others it would revoke the key of the caller.
    name: 'the revocation of keys',
    description: publicDescription,
    token: () => keyOf('ADMIN'),
    operations: ['--include-operation-id', 'revokeApiKey'],
  },
  {
    name: "the operator's API",
    description: () => `${platform.operatorUrl}/openapi.yaml`,
    token: () => Promise.resolve(OPERATOR_TOKEN),
    operations: [],
  },
];

describe.skipIf(!python)(`Schemathesis, all checks, ${CASES} cases for each operation`, () => {
  it.concurrent.each(PLANS)(
    'finds only known failures with $name',
    async (plan) => {
      const report = join(folder, plan.name.replaceAll(/\W/g, '-'));
      const args = ['run', plan.description(), '--header', `Authorization: Bearer ${await plan.token()}`];
      const cases = [
        '--phases',
        plan.phases ?? PHASES,
        '--max-examples',
        String(CASES),
        '--generation-deterministic',
        '--continue-on-failure',
      ];
      const output = ['--workers', '1', '--report', 'ndjson', '--report-dir', report];
      const { stdout, stderr } = await (python as Installed).run(
        'schemathesis',
        [...args, ...cases, ...output, ...plan.operations],
        {
          env: { SCHEMATHESIS_HOOKS: 'schemathesis_hooks', PYTHONPATH: here },
          cwd: folder,
          deadlineMs: RUN_MS,
        },
      );
      const { failures, cases: count, errors } = await read(report, stdout + stderr);
      expect(errors).toEqual([]);
      expect(count).toBeGreaterThanOrEqual(CASES);
      expect(failures.filter((failure) => !KNOWN_FAILURES.some((known) => covers(known, failure)))).toEqual(
        [],
      );
    },
    RUN_MS,
  );
});

interface Failure {
  readonly check: string;
  readonly operation: string;
  readonly status: number;
  /** The message of the error, or the response. */
  readonly message: string;
  readonly fault: string;
  readonly request: string;
}

function covers({ check, operation, status, says }: KnownFailure, failure: Failure): boolean {
  return (
    check === failure.check &&
    (operation ?? failure.operation) === failure.operation &&
    status === failure.status &&
    (says?.test(failure.message) ?? true)
  );
}

interface Check {
  readonly name: string;
  readonly status: string;
  readonly failure_info?: { readonly failure: { readonly title: string; readonly message: string } };
}
interface Content {
  readonly $base64?: string;
}
interface Interaction {
  readonly request: { readonly uri: string; readonly body?: Content | null };
  readonly response?: { readonly status_code: number; readonly content?: Content | null } | null;
}
interface Recorder {
  readonly cases?: Readonly<
    Record<string, { readonly value: { readonly method: string; readonly path: string } }>
  >;
  readonly checks?: Readonly<Record<string, readonly Check[]>>;
  readonly interactions?: Readonly<Record<string, Interaction>>;
}
type Line = Readonly<Record<string, { readonly recorder?: Recorder }>>;

/**
 * All failures that a run recorded: its console summary lists each kind of failure of an operation only
 * once.
 */
async function read(
  report: string,
  output: string,
): Promise<{ failures: Failure[]; cases: number; errors: unknown[] }> {
  const files = await readdir(report).catch(() => []);
  if (files.length !== 1) throw new Error(`there is no report:\n${output}`);
  const found = { failures: [] as Failure[], cases: 0, errors: [] as unknown[] };
  // A report has more bytes than a string may have.
  for await (const line of createInterface(createReadStream(join(report, files[0] ?? '')))) {
    const event = JSON.parse(line) as Line;
    const recorder = event['ScenarioFinished']?.recorder ?? {};
    found.failures.push(...failuresOf(recorder));
    found.cases += Object.keys(recorder.checks ?? {}).length;
    found.errors.push(...[event['NonFatalError'] ?? event['FatalError'] ?? []].flat());
  }
  return found;
}

function failuresOf({ cases = {}, checks = {}, interactions = {} }: Recorder): Failure[] {
  return Object.entries(checks).flatMap(([id, made]) =>
    made
      .filter(({ status }) => status === 'failure')
      .map(({ name, failure_info: info }) => ({
        check: name,
        operation: `${cases[id]?.value.method} ${cases[id]?.value.path}`,
        status: interactions[id]?.response?.status_code ?? 0,
        message: messageOf(textOf(interactions[id]?.response?.content)),
        fault: `${info?.failure.title}: ${info?.failure.message.slice(0, 500)}`,
        request: `${interactions[id]?.request.uri} ${textOf(interactions[id]?.request.body).slice(0, 1_000)}`,
      })),
  );
}

const textOf = (content: Content | null | undefined): string =>
  Buffer.from(content?.$base64 ?? '', 'base64').toString();

function messageOf(body: string): string {
  try {
    return (JSON.parse(body) as { error: { message: string } }).error.message;
  } catch {
    return body.slice(0, 200);
  }
}
