import { LocalChain } from '@svc/infra';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CountingProxy } from '../counting-proxy.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { rpcPayer } from '../rpc-payer.js';
import { type Output, openPython } from './environments.js';
import { faultOf, outcomesOf } from './outcomes.js';

/** A client loads in seconds, and makes a dozen short requests. */
const CLIENT_MS = 300_000;

const SCENARIOS = ['reads', 'batch', 'transaction', 'node_error', 'limit'];

const clients = await openPython();

const rpcOf = ({ url }: CountingProxy): string => `${url}/api/v1/crypto/rpc/base-local`;

describe.skipIf(!clients)('the unmodified web3.py, on a local chain', () => {
  let chain: LocalChain;
  const platforms: Platform[] = [];
  const proxies: CountingProxy[] = [];
  let output: Output | undefined;
  let charged: (() => Promise<number>) | undefined;

  async function startPlatform(requestsPerMinute: number): Promise<[Platform, CountingProxy]> {
    const platform = await Platform.start({
      cryptoRpc: {
        limits: { standard: { requestsPerMinute, creditsPerMinute: 1_000_000 } },
        networks: { 'base-local': { family: 'evm', chainId: 8_453, nodes: [{ url: chain.url }] } },
      },
    });
    platforms.push(platform);
    const proxy = await CountingProxy.start(platform.rootUrl);
    proxies.push(proxy);
    return [platform, proxy];
  }

  beforeAll(async () => {
    chain = await LocalChain.start();
    const [platform, proxy] = await startPlatform(100_000);
    const [limited, limitedProxy] = await startPlatform(1);
    const key = generatePrivateKey();
    await chain.fund(privateKeyToAccount(key).address);
    const payer = await rpcPayer(platform);
    charged = payer.charged;
    const env = {
      SVC_URL: platform.apiUrl,
      SVC_API_KEY: payer.apiKey,
      SVC_RPC_URL: rpcOf(proxy),
      SVC_WALLET_KEY: key,
      SVC_LIMITED_RPC_URL: rpcOf(limitedProxy),
      SVC_LIMITED_API_KEY: (await limited.account('1.00')).apiKey,
      PYTHONUTF8: '1',
    };
    output = await clients?.run('python', ['scenarios.py', 'client_web3'], { env, deadlineMs: CLIENT_MS });
  }, CLIENT_MS);

  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await Promise.all(platforms.map((platform) => platform.stop()));
    await chain?.stop();
  });

  it.each(SCENARIOS)('%s', (scenario) => {
    expect(faultOf(scenario, output)).toBeUndefined();
  });

  it('runs no other scenario', () => {
    expect(outcomesOf(output).map(({ name }) => name)).toEqual(SCENARIOS);
  });

  it('is charged the credits of the headers', async () => {
    const credits = proxies[0]?.credits;
    expect(credits).toBeGreaterThan(0);
    await eventually('the credits are charged', async () => (await charged?.()) === credits);
  });

  it('sends at most 15 requests at its limit', () => {
    // Two calls may be made if a minute ends between them.
    expect(proxies[1]?.requests).toBeLessThanOrEqual(15 + 2);
  });
});
