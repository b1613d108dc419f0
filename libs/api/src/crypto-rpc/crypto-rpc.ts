import { z } from 'zod';

/** The most calls of a request. Source: the public interface. */
const CALLS_AT_MOST = 100;
const ID_CHARS = 256;
const METHOD_CHARS = 128;

/** Numbers of any size are returned as they came, so only their kind is checked. */
const RpcId = z.union([
  z.string().max(ID_CHARS),
  z
    .number()
    .refine((value) => Number.isInteger(value), 'must be a whole number')
    .meta({ type: 'integer' }),
  z.null(),
]);

/** A call of JSON-RPC 2.0. */
const RpcCall = z
  .object({
    jsonrpc: z.literal('2.0').optional(),
    id: RpcId.optional().describe('Without it, the call is executed and charged, but has no response.'),
    method: z.string().min(1).max(METHOD_CHARS),
    params: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]).optional(),
  })
  .meta({ title: 'RpcCall' });

export const RpcRequest = z.union([RpcCall, z.array(RpcCall).min(1).max(CALLS_AT_MOST)]);

const OneRpcResponse = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: RpcId,
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});

export const RpcReply = z.union([OneRpcResponse, z.array(OneRpcResponse)]);

export const RpcParams = z.object({ network: z.string().min(1).max(64) });

export const RpcNetworkList = z.object({
  networks: z.array(z.string()).describe('Sorted by name.'),
});

export type RpcRequest = z.infer<typeof RpcRequest>;
export type RpcNetworkList = z.infer<typeof RpcNetworkList>;
