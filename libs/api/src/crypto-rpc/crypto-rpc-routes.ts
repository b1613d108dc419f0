import type { RouteDefinition } from '../route/route-definition.js';
import { RpcNetworkList, RpcParams, RpcReply, RpcRequest } from './crypto-rpc.js';

/** JSON-RPC to blockchain nodes. */
export const cryptoRpcRoutes = {
  rpcNetworks: {
    method: 'GET',
    path: '/api/v1/crypto/rpc/networks',
    operationId: 'listRpcNetworks',
    tag: 'Crypto RPC',
    summary: 'Lists the networks whose nodes respond',
    description: 'Each can be called at `/crypto/rpc/{network}`.',
    access: 'public',
    status: 200,
    reply: RpcNetworkList,
    headers: ['balances'],
    refusals: [],
  },
  callRpc: {
    method: 'POST',
    path: '/api/v1/crypto/rpc/:network',
    operationId: 'callRpc',
    tag: 'Crypto RPC',
    summary: 'Calls a node of a blockchain',
    description: `Takes a call of JSON-RPC 2.0, or a list of up to 100. The response has one result or error for each call with an id, in
their order; if no call has one, it is a 204. A call costs the credits of its network and its method, a call that the node
answers with an error fewer, and a call that no node answers nothing. If a method is not supported, nothing is called.
A signed transaction is sent once.`,
    access: 'key-or-wallet',
    status: 200,
    admitted: 'once',
    params: RpcParams,
    body: RpcRequest,
    passesBody: true,
    bodyLimitBytes: 2_097_152,
    reply: RpcReply,
    mayBeEmpty: true,
    headers: ['balances', 'rpc', 'window'],
    refusals: [
      'INVALID_JSON',
      'INVALID_REQUEST',
      'UNSUPPORTED_METHOD',
      'NOT_AVAILABLE',
      'INSUFFICIENT_BALANCE',
      'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
      'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
      'END_USER_SPEND_LIMIT_EXCEEDED',
      'PAYLOAD_TOO_LARGE',
      'INVALID_CONTENT_TYPE',
      'RATE_LIMIT_EXCEEDED',
      'UNAVAILABLE',
      'REQUEST_TIMEOUT',
    ],
  },
} as const satisfies Record<string, RouteDefinition>;
