import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Infra, type Server, temporaryInfra } from './index.js';

let infra: Infra;

beforeAll(async () => {
  infra = await temporaryInfra();
});

afterAll(() => infra?.wipe());

const hostOf = (address: string): { host: string; port: number } => {
  const { hostname, port } = new URL(address.includes('://') ? address : `kafka://${address}`);
  return { host: hostname, port: Number(port) };
};

/** Whether the address accepts connections. */
const isOpen = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(hostOf(address), () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

describe.each([
  ['Kafka', () => infra.kafka],
  ['Redis', () => infra.redis],
  ['PostgreSQL', () => infra.postgres],
] as [string, () => Server][])('%s', (_name, serverOf) => {
  let address: string;

  it('starts once, at the reported address', async () => {
    const server = serverOf();
    expect(await server.address()).toBeUndefined();
    address = await server.start();
    expect(await isOpen(address)).toBe(true);
    expect(await server.start()).toBe(address);
    expect(await server.address()).toBe(address);
  });

  it('comes back at its address after kill -9', async () => {
    const server = serverOf();
    await server.kill();
    expect(await server.address()).toBeUndefined();
    expect(await isOpen(address)).toBe(false);
    expect(await server.start()).toBe(address);
    expect(await isOpen(address)).toBe(true);
  });

  it('pauses and resumes', async () => {
    const server = serverOf();
    await server.pause();
    expect(await isOpen(address)).toBe(true);
    await server.resume();
    expect(await server.start()).toBe(address);
  });

  it('can be stopped while it is paused', async () => {
    const server = serverOf();
    await server.pause();
    await server.stop();
    expect(await isOpen(address)).toBe(false);
    expect(await server.address()).toBeUndefined();
    await server.stop();
  });
});

it('leaves a server alone if its address is given', async () => {
  const given = new Infra('nowhere', {
    KAFKA_BROKERS: 'broker:9092',
    REDIS_URL: 'redis://cache:6379',
    DATABASE_URL: 'postgres://db/svc',
  });
  expect(await given.up()).toEqual({
    KAFKA_BROKERS: 'broker:9092',
    REDIS_URL: 'redis://cache:6379',
    DATABASE_URL: 'postgres://db/svc',
  });
  await given.wipe();
  await expect(given.kafka.kill()).rejects.toThrow('KAFKA_BROKERS');
});
