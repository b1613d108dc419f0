// Tests the chart on a real kubelet: `SVC_IMAGE=registry.example/svc:0.1.0 npm run test:kubelet`, with
// kubectl, Helm 4 and a current context that the test may change (kind, k3s, any). It works in its own
// namespace, which it removes.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const NAMESPACE = 'svc-test-kubelet';
const IN = ['--namespace', NAMESPACE];
const WAIT = '600s';
const ANSWER_MS = 10_000;
/** Takes a minute to stream. */
const PROMPT = 'Hello [[sim itl-ms=100 tokens=600]]';

const { SVC_IMAGE: image = '' } = process.env;
const [, repository, tag] = /^(.+):([^:/]+)$/.exec(image) ?? [];
const kubectl = async (...args) => (await run('kubectl', args)).stdout;
const helm = (...args) => run('helm', args, { cwd: root });
const values = (reason) => [
  '--values',
  'deploy/envs/dev.yaml',
  '--set',
  `image.repository=${repository},image.tag=${tag}`,
  // Long enough for streams of a minute to finish.
  '--set',
  `services.all.drainSeconds=90,services.all.podAnnotations.reason=${reason}`,
];

const runs = (program, ...args) =>
  run(program, args).then(
    () => true,
    () => false,
  );

/** The missing requirements, in one line. */
async function refusal() {
  if (!repository) return 'SVC_IMAGE has to name the image and its tag, where the cluster finds it';
  if (!(await runs('kubectl', 'version', '--client'))) return 'there is no kubectl';
  if (!(await runs('helm', 'version', '--short'))) return 'there is no helm';
  const nodes = await kubectl('get', 'nodes', '--no-headers', '--request-timeout=10s').catch(
    (error) => error,
  );
  if (nodes instanceof Error) return `there is no cluster: ${nodes.message.trim().split('\n').at(-1)}`;
  return /\bReady\b/.test(nodes) ? undefined : `no node is ready: ${nodes}`;
}

/** Forwards the ports of the pod, and returns their addresses. */
async function forward() {
  const args = ['port-forward', ...IN, 'pod/svc-all-0', ':3000', ':3001'];
  const forwarding = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const urls = [];
  forwarding.stdout.setEncoding('utf8').on('data', (text) => {
    for (const [, port] of text.matchAll(/127\.0\.0\.1:(\d+) ->/g)) urls.push(`http://127.0.0.1:${port}`);
    if (urls.length >= 2) forwarding.emit('forwarded');
  });
  await once(forwarding, 'forwarded', { signal: AbortSignal.timeout(30_000) });
  return { api: urls[0], operator: urls[1], end: () => forwarding.kill() };
}

async function keyOf({ operator }) {
  const secret = await kubectl('get', 'secret', ...IN, 'svc-tokens', '-o', 'jsonpath={.data.operator-token}');
  const token = Buffer.from(secret, 'base64').toString();
  const ask = async (path, body) => {
    const answer = await fetch(`${operator}/operator/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const { id } = await ask('accounts', { name: 'kubelet', paid: true });
  await ask(`accounts/${id}/credits`, { usd: '1', reference: `kubelet-${id}` });
  return (await ask(`accounts/${id}/api_keys`, { apiKeyType: 'INFERENCE', description: 'kubelet' })).apiKey;
}

/** Starts a stream, runs an action on its pod, and reads the stream to its end. */
async function streamThrough(what, act) {
  const forwarded = await forward();
  try {
    const key = await keyOf(forwarded);
    const response = await fetch(`${forwarded.api}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'default', stream: true, messages: [{ role: 'user', content: PROMPT }] }),
      signal: AbortSignal.timeout(180_000),
    });
    if (!response.ok) throw new Error(`the stream is refused: ${response.status} ${await response.text()}`);
    const acting = act();
    const text = await response.text();
    if (!text.trimEnd().endsWith('data: [DONE]'))
      throw new Error(`${what}: the stream ends with ${text.slice(-300)}`);
    await acting;
    console.log(`ok  a stream of a minute survives ${what}`);
  } finally {
    forwarded.end();
  }
}

const ready = () => kubectl('wait', ...IN, 'pod/svc-all-0', '--for=condition=Ready', `--timeout=${WAIT}`);

async function judge() {
  await kubectl('create', 'namespace', NAMESPACE);
  await kubectl('label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted');
  await helm(
    'install',
    'svc',
    'deploy/charts/platform',
    ...IN,
    '--wait',
    '--timeout',
    WAIT,
    ...values('first'),
  );
  await ready();
  console.log('ok  the image starts and is ready');
  await helm('test', 'svc', ...IN, '--timeout', '180s');
  console.log('ok  helm test takes a payment');
  await streamThrough('kubectl delete pod', () =>
    kubectl('delete', 'pod', ...IN, 'svc-all-0', '--timeout', WAIT),
  );
  await ready();
  await streamThrough('helm upgrade', () =>
    helm('upgrade', 'svc', 'deploy/charts/platform', ...IN, '--wait', '--timeout', WAIT, ...values('second')),
  );
  await ready();
  await helm('test', 'svc', ...IN, '--timeout', '180s');
  console.log('ok  helm test takes a payment after it');
}

const missing = await refusal();
if (missing) {
  console.error(`not tested on a kubelet: ${missing}`);
  process.exit(1);
}
try {
  await judge();
} catch (error) {
  console.error(error.stderr ? `${error.message}\n${error.stderr}` : error.message);
  process.exitCode = 1;
} finally {
  await kubectl('delete', 'namespace', NAMESPACE, '--ignore-not-found', '--wait=false').catch(
    () => undefined,
  );
}
