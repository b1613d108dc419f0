export { CryptoRpcController } from './crypto-rpc.controller.js';
export { NodeRequests } from './node-requests.js';
export { RpcNodes } from './rpc-nodes.js';
export { RpcReplays } from './rpc-replays.js';
export { RpcRequestsStore } from './rpc-requests.store.js';
export { RpcSends } from './rpc-sends.js';
export { SharedReads } from './shared-reads.js';
