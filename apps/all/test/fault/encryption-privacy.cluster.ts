// What encrypted texts leave behind in a cluster: the memory of each process, the logs, the traces, and the
// data of Kafka, Redis and PostgreSQL.
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foundInFiles, foundInMemory, newCanary, repeatEncrypted, repeatPlain } from '../canaries.js';
import type { TestAccount } from '../deployment.js';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { EncryptionSession } from '../encryption-session.js';
import { OtlpReceiver } from '../otlp-receiver.js';
import { eventually } from '../response-bodies.js';
import { ClusterDeployment } from './cluster-deployment.js';
import { topicContents } from './topic-texts.js';

/** Gigabytes of memory are searched. */
const TIMEOUT = { timeout: 900_000 };

let enclave: Simulator;
let receiver: OtlpReceiver;
let platform: ClusterDeployment;
let account: TestAccount;
let session: EncryptionSession;

beforeAll(async () => {
  enclave = await startSimulator();
  receiver = await OtlpReceiver.start();
  const model = { ...ENCRYPTED_MODEL, backends: [enclaveAt(enclave.url)] };
  platform = await ClusterDeployment.start({}, receiver.settings, { models: [() => model] });
  account = await platform.account();
  session = await EncryptionSession.with(enclave);
}, 180_000);

afterAll(async () => {
  await platform.stop();
  receiver.close();
  await enclave.close();
}, 120_000);

/** Which of these texts are in the memory of each process of the cluster, right after each chat. */
async function foundInProcesses(
  texts: readonly string[],
  chat: () => Promise<unknown>,
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { name, pid = 0 } of platform.cluster.all) {
    // A search may take a minute, in which a process reuses its memory.
    await chat();
    found[name] = await foundInMemory(pid, texts);
  }
  return found;
}

describe.runIf(process.platform === 'linux')('the texts of an encrypted chat in a cluster', TIMEOUT, () => {
  it('are never in the memory of a process, while those of a plain one are in gateway and router', async () => {
    const [hidden, plain] = [newCanary(), newCanary()];
    const found = await foundInProcesses([hidden, plain], async () => {
      await repeatEncrypted(platform, account, { session, canary: hidden });
      await repeatPlain(platform, account, plain);
    });
    const nothing = Object.keys(found).map((name) => [name, []]);
    // The control: what is there is found.
    expect(found).toEqual({ ...Object.fromEntries(nothing), 'gateway-1': [plain], 'router-1': [plain] });
  });

  it('are in no log, trace, metric, topic or table, and not in Redis, encrypted or not', async () => {
    const canary = newCanary();
    const ciphertexts = await repeatEncrypted(platform, account, { session, canary });
    const requestId = await repeatPlain(platform, account, newCanary());
    const { infra, folder } = platform;
    // Tails, since each begins with a key. The controls are ids that the same places contain.
    const texts = [canary, ...ciphertexts.map((text) => text.slice(-64)), requestId, account.id];
    const controls = [requestId, account.id];
    const sent = (): string => Buffer.concat(receiver.bytes).toString('latin1');
    const brokers = join(infra.folder, 'kafka', 'data');
    const postgres = join(infra.folder, 'postgres');
    await eventually('the later request is exported', () => sent().includes(requestId));
    await eventually('the later request is in a topic', async () =>
      (await topicContents(platform.servers)).includes(requestId),
    );
    for (const place of [folder, postgres])
      await eventually(
        `the later request is in ${place}`,
        async () => (await foundInFiles(place, [requestId])).length > 0,
      );
    expect(texts.filter((text) => !controls.includes(text) && sent().includes(text))).toEqual([]);
    for (const place of [folder, postgres])
      expect([place, await foundInFiles(place, texts)]).toEqual([place, controls]);
    const events = await topicContents(platform.servers);
    expect(texts.filter((text) => events.includes(text))).toEqual(controls);
    // Brokers have events compressed, and their own logs.
    const unencrypted = await foundInFiles(brokers, texts);
    expect(unencrypted.filter((text) => !controls.includes(text))).toEqual([]);
    // Redis keeps nothing on disk.
    const inRedis: string[] = [];
    for (const pid of await infra.redis.pids()) inRedis.push(...(await foundInMemory(pid, texts)));
    expect(inRedis).toContain(account.id);
    expect(inRedis.filter((text) => !controls.includes(text))).toEqual([]);
  });
});
