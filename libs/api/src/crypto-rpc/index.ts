export { RpcNetworkList, RpcRequest } from './crypto-rpc.js';
