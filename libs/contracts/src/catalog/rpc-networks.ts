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

const RpcNetwork = z
  .strictObject({
    family: z.enum(RPC_FAMILIES),
    /**
     * What its nodes call the chain: the number of an EVM chain, the genesis hash of Solana, the text of
     * `starknet_chainId`.
     */
    chainId: z.union([PositiveCount, z.string().min(1).max(128)]).optional(),
    /** Credits of a call in the lowest tier. */
    credits: PositiveCount.max(100_000).default(20),
    /** The most calls in one request to a node. */
    batch: PositiveCount.max(100).default(50),
    /** The most blocks of a filter of `eth_getLogs` or `trace_filter`, if both ends are numbers. */
    maxLogBlocks: PositiveCount.optional(),
    methods: FurtherMethods.optional(),
    nodes: z.array(RpcNode).min(1),
  })
  .refine(
    ({ family, chainId }) => chainId === undefined || (family === 'evm') === (typeof chainId === 'number'),
    {
      path: ['chainId'],
      message: 'must be a number for EVM chains, and text for others',
    },
  );
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
