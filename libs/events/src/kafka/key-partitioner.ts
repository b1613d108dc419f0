import { type DefaultPartitioner, Partitioners } from 'kafkajs';

const SEED = 0x9747b28c;
const MIX = 0x5bd1e995;
const POSITIVE = 0x7fffffff;

/**
 * Partitions like the defaults of kafkajs and of Kafka's own clients: by the murmur2 hash of the key. The
 * kafkajs version uses bigints, which costs more than the rest of its work on a record.
 */
export const keyPartitioner: DefaultPartitioner = () => {
  const byDefault = Partitioners.DefaultPartitioner();
  return (args) => {
    const { key, partition } = args.message;
    if (typeof key !== 'string' || partition !== undefined) return byDefault(args);
    return (murmur2(Buffer.from(key)) & POSITIVE) % args.partitionMetadata.length;
  };
};

/** A 32-bit hash with Kafka's seed. */
function murmur2(bytes: Buffer): number {
  const { length } = bytes;
  const tail = length & 3;
  let hash = SEED ^ length;
  for (let at = 0; at < length - tail; at += 4) {
    const word = Math.imul(bytes.readInt32LE(at), MIX);
    hash = Math.imul(hash, MIX) ^ Math.imul(word ^ (word >>> 24), MIX);
  }
  if (tail > 0) hash = Math.imul(hash ^ bytes.readUIntLE(length - tail, tail), MIX);
  hash = Math.imul(hash ^ (hash >>> 13), MIX);
  return hash ^ (hash >>> 15);
}
