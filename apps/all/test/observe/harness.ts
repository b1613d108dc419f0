// Node also runs this file from its source, so it may contain only types that Node can strip.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, type ReplicaCounts, internalTokens } from '@svc/cluster';
import { LocalChain, Prometheus, temporaryInfra } from '@svc/infra';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

export const METRICS_TOKEN = 'metrics-token-of-whoever-is-observed-here';

/** A local Base chain, and the settings of a seller on it. */
export async function startSale(): Promise<{ chain: LocalChain; env: Record<string, string> }> {
  const chain = await LocalChain.start();
  const [signer, seller] = [generatePrivateKey(), generatePrivateKey()];
  await chain.fund(privateKeyToAccount(signer).address);
  const env = {
    X402_EVM_RPC_URL: chain.url,
    X402_EVM_PAY_TO: privateKeyToAccount(seller).address,
    X402_EVM_SIGNER_KEY: signer,
    X402_EVM_CONFIRMATIONS: '1',
  };
  return { chain, env };
}

/**
 * A cluster with its own servers and chain, and a Prometheus that scrapes it and evaluates the rules every
 * second.
 */
export interface ObservedCluster {
  readonly cluster: Cluster;
  readonly infra: Awaited<ReturnType<typeof temporaryInfra>>;
  readonly chain: LocalChain;
  readonly prometheus: Prometheus;
  readonly apiUrl: string;
  readonly operatorUrl: string;
  /** The pattern of the paths of its processes' logs. */
  readonly logs: string;
  stop(): Promise<void>;
}

interface ObservedOptions {
  /** Default: one of each. */
  readonly replicas?: ReplicaCounts;
  /** Additional settings of its processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** The scrape interval of Prometheus; default: one second. */
  readonly everySeconds?: number;
}

/** Starts it with a catalogue and the operator's token; `stop` removes everything. */
export async function startObservedCluster(
  catalog: object,
  operatorToken: string,
  { replicas = {}, env: more = {}, everySeconds = 1 }: ObservedOptions = {},
): Promise<ObservedCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-observed-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const infra = await temporaryInfra();
    ends.push(() => infra.wipe());
    const { chain, env } = await startSale();
    ends.push(() => chain.stop());
    const catalogFile = join(folder, 'catalog.json');
    // JSON is valid YAML.
    await writeFile(catalogFile, JSON.stringify(catalog));
    const cluster = await Cluster.start({
      shared: {
        ...(await infra.up()),
        SVC_OPERATOR_TOKEN: operatorToken,
        ...internalTokens(),
      },
      env: {
        ...env,
        PATH: process.env['PATH'],
        SVC_CATALOG: catalogFile,
        SVC_METRICS_TOKEN: METRICS_TOKEN,
        GATEWAY_FAILURE_BLOCK: 'off',
        ...more,
      },
      replicas,
      folder: join(folder, 'cluster'),
    });
    ends.push(() => cluster.stop());
    const prometheus = await Prometheus.start({
      folder: join(folder, 'prometheus'),
      processes: cluster.metrics,
      token: METRICS_TOKEN,
      everySeconds,
    });
    ends.push(() => prometheus.stop());
    const [apiUrl, operatorUrl] = [`${cluster.url}/api/v1`, `${cluster.operatorUrl}/operator/v1`];
    const logs = join(folder, 'cluster', '*.log');
    return { cluster, infra, chain, prometheus, apiUrl, operatorUrl, logs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
