import { z } from 'zod';

const PositiveCount = z.int().positive();

/** What kind of chain a network is, which decides about its methods. */
const RPC_FAMILIES = ['evm', 'solana', 'starknet'] as const;
export type RpcFamily = (typeof RPC_FAMILIES)[number];

/**
 * Names of methods with which a node would use its own keys, send, keep state for the caller or be
 * administered. Nodes differ in case, so case does not matter here.
 */
const DENIED: readonly RegExp[] = [
  /^(?:personal|admin|miner|engine|clique|les|account|wallet|hardhat|anvil|evm|ganache|tenderly)_/i,
  /^parity_set/i,
  /^debug_(?:set|write|start|stop|cpuprofile|memprofile|blockprofile|mutexprofile|gc|free|chaindb|stacks|verbosity|vmodule)/i,
  /^eth_(?:sign|accounts$|coinbase$|mining$|hashrate$|getwork$|submit|new.*filter$|getfilter|uninstallfilter)/i,
  /subscribe$/i,
  /(?:^|_)send|^starknet_add|^requestairdrop$/i,
  /^(?:validatorexit|setlogfilter|contactinfo|addauthorizedvoter|removeallauthorizedvoters|setidentity)/i,
];

/** Further methods that read, such as `zks_getL1BatchDetails`, with the factor of their price. */
const FurtherMethods = z.record(
  z
    .string()
    .regex(/^[a-zA-Z0-9_]{1,64}$/, 'must be letters, digits and underscores')
    .refine((name) => !DENIED.some((pattern) => pattern.test(name)), {
      message: 'must be a method that only reads and keeps no state',
    }),
  PositiveCount.max(100),
);

/** A node of a network. */
const RpcNode = z.strictObject({
  /** Its name for clients and logs; default: `backend-1` for the first of its network, and so on. */
  name: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes and underscores')
    .optional(),
  url: z.url({ protocol: /^https?$/ }),
  /** The environment variable that holds its key, sent as a bearer token. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/)
    .optional(),
  weight: z.number().positive().default(1),
  /** Concurrent requests of each router process. */
  maxInFlight: PositiveCount.default(64),
});

/** The hash of a Solana chain's first block, in base58. */
export const GENESIS_HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** How the nodes of a family name their chain. */
const CHAIN_IDS: Readonly<Record<RpcFamily, { readonly id: z.ZodType; readonly message: string }>> = {
  evm: { id: PositiveCount, message: 'must be the number of the chain, such as 8453' },
  solana: {
    id: z.string().regex(GENESIS_HASH),
    message: 'must be the genesis hash that getGenesisHash returns',
  },
  starknet: {
    id: z.string().regex(/^0x[0-9a-f]{1,64}$/i),
    message: 'must be what starknet_chainId returns, such as 0x534e5f4d41494e',
  },
};

const RpcNetwork = z
  .strictObject({
    family: z.enum(RPC_FAMILIES),
    /** The chain of its nodes, as they name it. Nodes of another chain are not used. */
    chainId: z.union([PositiveCount, z.string().min(1).max(128)]).optional(),
    /** Credits of a call in the lowest tier. */
    credits: PositiveCount.max(100_000).default(20),
    /** The most calls in one request to a node. */
    batch: PositiveCount.max(100).default(50),
    /**
     * The most blocks of a filter. The end of one that ends with a tag such as `latest` is taken to be the
     * final block.
     */
    maxLogBlocks: PositiveCount.optional(),
    /**
     * Reads call a node last that is more blocks behind the best node, on Solana slots. Default: 10, on
     * Solana 150.
     */
    maxLagBlocks: PositiveCount.optional(),
    methods: FurtherMethods.optional(),
    nodes: z.array(RpcNode).min(1),
  })
  .superRefine(({ family, chainId }, context) => {
    const { id, message } = CHAIN_IDS[family];
    if (chainId !== undefined && !id.safeParse(chainId).success)
      context.addIssue({ code: 'custom', path: ['chainId'], message });
  });
export type RpcNetwork = z.infer<typeof RpcNetwork>;

const RpcLimits = z.strictObject({ requestsPerMinute: PositiveCount, creditsPerMinute: PositiveCount });

const NANO = 1_000_000_000;

/** JSON-RPC to blockchain nodes. Sources of the default price and limits: the public interface. */
export const CryptoRpc = z.strictObject({
  /** The price of a credit. */
  creditUsd: z
    .number()
    .positive()
    .max(1)
    .refine(
      (usd) => Math.abs(usd * NANO - Math.round(usd * NANO)) < 1e-6,
      'must be a whole number of billionths of a dollar',
    )
    .default(0.000_000_7),
  /** Credits of a call that a node answers with an error. */
  errorCredits: z.int().nonnegative().max(100_000).default(5),
  /** For each account, over all networks. */
  limits: z
    .strictObject({
      standard: RpcLimits.default({ requestsPerMinute: 100, creditsPerMinute: 200_000 }),
      partner: RpcLimits.optional(),
    })
    .prefault({}),
  networks: z.record(
    z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and dashes'),
    RpcNetwork,
  ),
});
export type CryptoRpc = z.infer<typeof CryptoRpc>;
