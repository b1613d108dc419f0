export { RpcModule } from './rpc.module.js';
