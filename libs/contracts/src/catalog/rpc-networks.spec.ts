import { describe, expect, it } from 'vitest';
import { CryptoRpc } from './rpc-networks.js';

const read = (network: object): boolean =>
  CryptoRpc.safeParse({
    networks: { n: { family: 'evm', nodes: [{ url: 'http://127.0.0.1:1' }], ...network } },
  }).success;

describe('the methods that an operator adds to a network', () => {
  it.each([
    'zks_getL1BatchDetails',
    'linea_estimateGas',
    'bor_getAuthor',
    'eth_getTransactionBySenderAndNonce',
  ])('may read: %s', (method) => {
    expect(read({ methods: { [method]: 1 } })).toBe(true);
  });

  it.each([
    'personal_unlockAccount',
    'admin_addPeer',
    'miner_start',
    'engine_newPayloadV4',
    'clique_propose',
    'les_addBalance',
    'account_list',
    'wallet_addEthereumChain',
    'hardhat_setBalance',
    'anvil_setBalance',
    'evm_mine',
    'ganache_setTime',
    'tenderly_setBalance',
    'parity_setMode',
    'debug_setHead',
    'debug_writeBlockProfile',
    'debug_startCPUProfile',
    'debug_stopGoTrace',
    'debug_cpuProfile',
    'debug_gcStats',
    'debug_freeOSMemory',
    'debug_chaindbCompact',
    'debug_stacks',
    'debug_verbosity',
    'debug_vmodule',
    'eth_sign',
    'eth_signTransaction',
    'eth_signTypedData_v4',
    'eth_sendTransaction',
    'eth_sendBundle',
    'eth_accounts',
    'eth_coinbase',
    'eth_mining',
    'eth_hashrate',
    'eth_getWork',
    'eth_submitWork',
    'eth_newFilter',
    'eth_newPendingTransactionFilter',
    'eth_getFilterChanges',
    'eth_uninstallFilter',
    'eth_subscribe',
    'eth_unsubscribe',
    'logsSubscribe',
    'requestAirdrop',
    'sendTransaction',
    'starknet_addInvokeTransaction',
    'validatorExit',
    'setLogFilter',
    'not a name',
    '',
  ])('never change a node, in any case: %s', (method) => {
    for (const name of [method, method.toUpperCase(), method.toLowerCase()])
      expect(read({ methods: { [name]: 1 } })).toBe(false);
  });
});

describe('the chain of a network', () => {
  it.each([
    ['evm', 8_453, true],
    ['evm', '8453', false],
    ['evm', '0x2105', false],
    ['solana', '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKqqfExsnp9vj', true],
    ['solana', 'mainnet', false],
    ['solana', 1, false],
    ['starknet', '0x534e5f4d41494e', true],
    ['starknet', 'SN_MAIN', false],
    ['starknet', 1, false],
  ])('of the family %s may be given as %s: %s', (family, chainId, isRead) => {
    expect(read({ family, chainId })).toBe(isRead);
  });

  it('is refused with an example', () => {
    const networks = {
      n: { family: 'starknet', chainId: 'SN_MAIN', nodes: [{ url: 'http://127.0.0.1:1' }] },
    };
    const { error } = CryptoRpc.safeParse({ networks });
    expect(error?.issues).toMatchObject([
      { path: ['networks', 'n', 'chainId'], message: expect.stringContaining('0x534e5f4d41494e') as string },
    ]);
  });
});
