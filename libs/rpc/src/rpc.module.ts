import { Module } from '@nestjs/common';
import { CryptoRpcController } from './crypto-rpc/crypto-rpc.controller.js';
import { NodeRequests } from './crypto-rpc/node-requests.js';
import { RpcNodes } from './crypto-rpc/rpc-nodes.js';
import { RpcSends } from './crypto-rpc/rpc-sends.js';
import { SharedReads } from './crypto-rpc/shared-reads.js';

/** JSON-RPC of blockchains. Needs the global modules of `paid` and the catalogue. */
@Module({
  controllers: [CryptoRpcController],
  providers: [NodeRequests, RpcNodes, RpcSends, SharedReads],
})
export class RpcModule {}
