import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Infra } from './infra.js';
import { type KafkaIdentity, KafkaServer, kafkaBrokers } from './kafka-server.js';
import { birthOf } from './processes.js';
import type { Server } from './server.js';

/** Followed by the number of the process that it is for. */
const PREFIX = 'svc-test-infra-';

/**
 * Servers of a test's own, none of them started yet, in a folder that `wipe` removes. What processes left behind that
 * were killed before they could is removed first. The environment says where programs are; no server in it is used.
 */
export async function temporaryInfra(): Promise<Infra> {
  const { KAFKA_BROKERS: _brokers, REDIS_URL: _redis, DATABASE_URL: _database, ...programs } = process.env;
  return new Infra(await temporaryFolder(), programs);
}

/** Brokers of a test's own that keep copies of each other's events, not started yet. Most have to run for any to work. */
export interface TemporaryBrokers {
  readonly brokers: readonly Server[];
  wipe(): Promise<void>;
}

export async function temporaryBrokers(count: number): Promise<TemporaryBrokers> {
  const folder = await temporaryFolder();
  return ended(folder, await kafkaBrokers(folder, count, process.env));
}

/** A broker of a test's own that speaks TLS alone, not started yet. */
export async function temporaryTlsBroker(identity: KafkaIdentity): Promise<TemporaryBrokers> {
  const folder = await temporaryFolder();
  return ended(folder, [new KafkaServer(join(folder, 'kafka-1'), process.env, { identity })]);
}

const ended = (folder: string, brokers: readonly Server[]): TemporaryBrokers => ({
  brokers,
  wipe: async () => {
    // The last ones would wait for the others before they stop.
    await Promise.all(brokers.map((broker) => broker.kill()));
    await rm(folder, { recursive: true, force: true });
  },
});

async function temporaryFolder(): Promise<string> {
  await removeLeftBehind();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // Root's PostgreSQL runs as another user, who has to get in.
  await chmod(folder, 0o711);
  return folder;
}

async function removeLeftBehind(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (!owner || (await birthOf(owner)) !== undefined) continue;
    const folder = join(tmpdir(), name);
    // Another test process may be at it too.
    await new Infra(folder).wipe().catch(() => undefined);
    for (const server of await readdir(folder).catch(() => [])) {
      if (server.startsWith('kafka-'))
        await new KafkaServer(join(folder, server), {}).kill().catch(() => undefined);
    }
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
