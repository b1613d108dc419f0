import { randomBytes } from 'node:crypto';
import { type PartitionerArgs, Partitioners } from 'kafkajs';
import { expect, it } from 'vitest';
import { keyPartitioner } from './key-partitioner.js';

const PARTITIONS = 1_009;

const ours = keyPartitioner();
const theirs = Partitioners.DefaultPartitioner();

const argumentsFor = (message: Partial<PartitionerArgs['message']>): PartitionerArgs => ({
  topic: 't',
  partitionMetadata: Array.from({ length: PARTITIONS }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 0,
    replicas: [],
    isr: [],
  })),
  message: { value: '', ...message },
});

it('finds the same partition as kafkajs for any key', () => {
  const random = Array.from({ length: 2_000 }, (_, length) => randomBytes(length % 50).toString('latin1'));
  for (const key of ['', 'a', 'acc_0199f0a0c1c07e0aa5c4b1d3f2e1a0b9', 'é🙂', ...random])
    expect(ours(argumentsFor({ key }))).toBe(theirs(argumentsFor({ key })));
});

it('keeps a given partition, and chooses one for a message without a key', () => {
  expect(ours(argumentsFor({ key: 'a', partition: 7 }))).toBe(7);
  const found = ours(argumentsFor({}));
  expect(found).toBeGreaterThanOrEqual(0);
  expect(found).toBeLessThan(PARTITIONS);
});
