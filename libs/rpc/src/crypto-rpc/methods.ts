import type { RpcFamily } from '@svc/contracts/catalog';

const list = (names: string): string[] => names.trim().split(/\s+/);
const prefixed = (prefix: string, names: string): string[] => list(names).map((name) => `${prefix}${name}`);

/**
 * The methods that are passed on, by the factor of their price. They read, or send what the client has
 * signed. Names are compared exactly: a node that also serves an unlocked account or changes its state must
 * not get such a call.
 * Source of names and factors: the public interface.
 */
export const METHODS: Readonly<Record<RpcFamily, Readonly<Record<1 | 2 | 4, readonly string[]>>>> = {
  evm: {
    1: [
      ...prefixed(
        'eth_',
        `blockNumber chainId call estimateGas gasPrice maxPriorityFeePerGas blobBaseFee feeHistory syncing protocolVersion
        getBalance getCode getStorageAt getProof getTransactionCount getBlockByHash getBlockByNumber getBlockReceipts
        getBlockTransactionCountByHash getBlockTransactionCountByNumber getUncleByBlockHashAndIndex
        getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber getTransactionByHash
        getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionReceipt getLogs
        createAccessList simulateV1 sendRawTransaction sendUserOperation estimateUserOperationGas getUserOperationByHash getUserOperationReceipt
        supportedEntryPoints`,
      ),
      ...list('net_version net_listening net_peerCount web3_clientVersion web3_sha3'),
    ],
    2: [
      ...prefixed('trace_', 'block call callMany filter transaction rawTransaction'),
      ...prefixed(
        'debug_',
        `traceBlock traceBlockByHash traceBlockByNumber traceCall traceTransaction storageRangeAt`,
      ),
      ...prefixed('arbtrace_', 'block call callMany filter transaction'),
      ...list('txpool_inspect txpool_status'),
    ],
    4: [
      ...prefixed('trace_', 'replayBlockTransactions replayTransaction'),
      ...prefixed('arbtrace_', 'replayBlockTransactions replayTransaction'),
      'txpool_content',
    ],
  },
  solana: {
    1: list(`getAccountInfo getBalance getBlock getBlockCommitment getBlockHeight getBlockProduction getBlocks
      getBlocksWithLimit getBlockTime getClusterNodes getEpochInfo getEpochSchedule getFeeForMessage
      getFirstAvailableBlock getGenesisHash getHealth getHighestSnapshotSlot getIdentity getInflationGovernor
      getInflationRate getInflationReward getLatestBlockhash getLeaderSchedule getMaxRetransmitSlot
      getMaxShredInsertSlot getMinimumBalanceForRentExemption getMultipleAccounts getProgramAccounts
      getRecentPerformanceSamples getRecentPrioritizationFees getSignaturesForAddress getSignatureStatuses getSlot
      getSlotLeader getSlotLeaders getStakeMinimumDelegation getTokenAccountBalance getTokenAccountsByDelegate
      getTokenAccountsByOwner getTokenLargestAccounts getTokenSupply getTransaction getTransactionCount getVersion
      getVoteAccounts isBlockhashValid minimumLedgerSlot sendTransaction simulateTransaction`),
    2: [],
    4: list('getLargestAccounts getSupply'),
  },
  starknet: {
    1: prefixed(
      'starknet_',
      `specVersion blockNumber blockHashAndNumber chainId syncing call estimateFee estimateMessageFee
      getBlockWithTxHashes getBlockWithTxs getBlockWithReceipts getBlockTransactionCount getStateUpdate getStorageAt
      getStorageProof getNonce getClass getClassAt getClassHashAt getEvents getTransactionByHash
      getTransactionByBlockIdAndIndex getTransactionReceipt getTransactionStatus getMessagesStatus traceTransaction
      simulateTransactions traceBlockTransactions addInvokeTransaction addDeclareTransaction
      addDeployAccountTransaction`,
    ),
    2: [],
    4: [],
  },
};

const factorsOf = (family: RpcFamily): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(METHODS[family]).flatMap(([factor, names]) => names.map((name) => [name, Number(factor)])),
  );

const FACTORS: Readonly<Record<RpcFamily, ReadonlyMap<string, number>>> = {
  evm: factorsOf('evm'),
  solana: factorsOf('solana'),
  starknet: factorsOf('starknet'),
};

/** How many times the network's credits a call costs; `undefined` for a method that is not supported. */
export const factorOf = (family: RpcFamily, method: string): number | undefined =>
  FACTORS[family].get(method);

/** A call that every node of a family supports. */
export const PROBES: Readonly<Record<RpcFamily, string>> = {
  evm: 'eth_chainId',
  solana: 'getLatestBlockhash',
  starknet: 'starknet_chainId',
};
