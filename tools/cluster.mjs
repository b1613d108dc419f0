// Runs every service in its own processes, with a balancer in front of the gateways:
// `npm run cluster -- --replicas gateway=3,router=2,ledger=2,limiter=2`. Ctrl-C stops everything.
// Uses the servers of `npm run infra`, or those of DATABASE_URL, REDIS_URL and KAFKA_BROKERS.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Cluster, internalTokens, parseReplicas } from '@svc/cluster';
import { Infra } from '@svc/infra';
import { ownSecret } from '@svc/runtime';
import { dataDir } from './data-dir.mjs';
import { firstAccount } from './first-account.mjs';

const { values } = parseArgs({ options: { replicas: { type: 'string', default: '' } } });
const { env } = process;
const infra = new Infra(join(dataDir, 'infra'), env);
let cluster;
let isStopping = false;

const say = (name, what) => console.log(`${name.padEnd(12)} ${what}`);

async function start() {
  const replicas = parseReplicas(values.replicas);
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o711);
  say('infra', 'is starting');
  const shared = {
    ...(await infra.up()),
    ...internalTokens(env),
    SVC_OPERATOR_TOKEN: env.SVC_OPERATOR_TOKEN ?? (await ownSecret(dataDir, 'operator-token')),
    GATEWAY_WEBHOOK_KEY: env.GATEWAY_WEBHOOK_KEY ?? (await ownSecret(dataDir, 'webhook-key')),
    SVC_METRICS_TOKEN: env.SVC_METRICS_TOKEN ?? randomBytes(32).toString('base64url'),
  };
  const folder = join(dataDir, 'cluster');
  const { HOST: host, PORT: port = '3000', OPERATOR_PORT: operatorPort = '3001', ...others } = env;
  cluster = await Cluster.start({
    shared,
    env: others,
    replicas,
    folder,
    ...(host && { host }),
    port: Number(port),
    operatorPort: Number(operatorPort),
    onEvent: say,
  });
  const account = await firstAccount(cluster.operatorUrl, shared.SVC_OPERATOR_TOKEN);
  // Read by `npm run observe`.
  const observed = { processes: cluster.metrics, token: shared.SVC_METRICS_TOKEN };
  await writeFile(join(folder, 'metrics.json'), JSON.stringify(observed), { mode: 0o600 });
  console.log(`
  API            ${cluster.url}/api/v1
  Operator API   ${cluster.operatorUrl}/operator/v1
  Logs           ${join(folder, '<name>.log')}
  API key        ${account?.apiKey ?? 'shown at the first start'}
`);
}

async function stop() {
  if (isStopping) return;
  isStopping = true;
  console.log('\nstopping; waiting for running responses to end');
  const killed = (await cluster?.stop()) ?? [];
  for (const name of killed) say(name, 'had to be killed');
  await infra.down();
  process.exit(killed.length > 0 ? 1 : 0);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stop());
try {
  await start();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
  await stop();
}
