import type { Dialect } from './dialect.js';
import { openai } from './openai.js';

/** A blockchain node. Its requests and responses are passed on as they are. */
export const jsonRpc: Dialect = { ...openai, paths: { rpc: '', 'rpc-send': '' } };
