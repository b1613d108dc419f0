import { readFileSync } from 'node:fs';
import { type DynamicModule, Module } from '@nestjs/common';
import { Books, Payments } from '@svc/contracts';
import { RootLogger, StartFault } from '@svc/runtime';
import { Database } from '@svc/storage';
import { PaymentAuditStore } from './audit/audit.store.js';
import { PaymentsAudit } from './audit/payments-audit.js';
import type { BaseChain } from './chains/base-chain.js';
import { Facilitator } from './facilitator/facilitator.js';
import { LocalPayments, NoPayments } from './local-payments.js';
import { OperatorActions } from './operator/operator-actions.js';
import { PaymentListStore } from './records/payment-list.store.js';
import { PaymentStore } from './records/payment.store.js';
import type { PaymentsConfig } from './payments.config.js';
import { PaymentWatch } from './settlement/payment-watch.js';
import { baseRail } from './settlement/base-rail.js';
import type { Rail, Submission } from './settlement/rail.js';
import { PaymentSettlement } from './settlement/settlement.js';
import { FacilitatorSubmission, OwnSubmission } from './settlement/submissions.js';

/** The payments themselves. Needs the global modules of storage and logging; `books` provides `Books`. */
@Module({})
export class PaymentsModule {
  static with(config: PaymentsConfig, books: DynamicModule): DynamicModule {
    return {
      module: PaymentsModule,
      imports: [books],
      providers: [
        {
          provide: Payments,
          useFactory: (database: Database, ledger: Books, logger: RootLogger) =>
            paymentsOf(config, { database, books: ledger, logger }),
          inject: [Database, Books, RootLogger],
        },
      ],
      exports: [Payments],
    };
  }
}

interface Neighbours {
  readonly database: Database;
  readonly books: Books;
  readonly logger: RootLogger;
}

async function paymentsOf(
  config: PaymentsConfig,
  { database, books, logger }: Neighbours,
): Promise<Payments> {
  const { X402_SETTLE_WAIT_MS: waitMs } = config;
  const store = new PaymentStore(database);
  const base = await baseOf(config);
  const rails = [
    ...(base ? [baseRail({ ...base, submission: await submissionOf(config, base.chain, store) })] : []),
    ...(await solanaOf(config, store)),
  ];
  if (rails.length === 0) return new NoPayments(missingOf(config));
  warnOfHalfSet(config, logger);
  const settlement = new PaymentSettlement({ store, books, rails, logger, leaseMs: config.X402_LEASE_MS });
  const watch = new PaymentWatch({ store, rails });
  const audits = new PaymentAuditStore(database);
  return new LocalPayments({
    waitMs,
    rails,
    base: base?.chain,
    store,
    settlement,
    watch,
    operatorActions: new OperatorActions({ records: new PaymentListStore(database), store, settlement }),
    audit: new PaymentsAudit({ rails, store: audits, books, log: logger.log }),
    log: logger.log,
  });
}

async function baseOf(config: PaymentsConfig): Promise<{ chain: BaseChain; payTo: string } | undefined> {
  const { X402_EVM_RPC_URL: rpcUrl, X402_EVM_PAY_TO: payTo } = config;
  if (missingForBase(config).length > 0 || rpcUrl === undefined || payTo === undefined) return undefined;
  const { X402_EVM_CONFIRMATIONS: confirmations, X402_EVM_MAX_FEE_GWEI: maxFeeGwei } = config;
  // Loaded here, so that other processes do not load the Base client.
  const { BaseChain } = await import('./chains/base-chain.js');
  return { chain: new BaseChain({ rpcUrl, confirmations, maxFeeGwei }), payTo };
}

async function solanaOf(config: PaymentsConfig, store: PaymentStore): Promise<Rail[]> {
  const { X402_SOLANA_RPC_URL: rpcUrl, X402_SOLANA_PAY_TO: payTo } = config;
  if (missingForSolana(config).length > 0 || rpcUrl === undefined || payTo === undefined) return [];
  const { X402_SOLANA_COMMITMENT: commitment, X402_SOLANA_MAX_FEE_LAMPORTS: maxFeeLamports } = config;
  const { FeePayer, solanaRail } = await import('./solana/solana-rail.js');
  const facilitator = facilitatorOfSolana(config);
  const submitter = facilitator ?? keyed('X402_SOLANA_SIGNER_KEY', config, (key) => FeePayer.of(key));
  return [await solanaRail({ rpcUrl, payTo, commitment, maxFeeLamports, submitter }, store)];
}

/** A facilitator, used if there is no signer key of our own. */
function facilitatorOfSolana(config: PaymentsConfig): Facilitator | undefined {
  const {
    X402_FACILITATOR_URL: url,
    X402_SOLANA_SIGNER_KEY: key,
    X402_SOLANA_SIGNER_KEY_FILE: file,
  } = config;
  return url === undefined || key !== undefined || file !== undefined ? undefined : new Facilitator(url);
}

/** The settings required before anything can be sold. */
function missingOf(config: PaymentsConfig): string[] {
  return isBegun(config, 'SOLANA') && !isBegun(config, 'EVM')
    ? missingForSolana(config)
    : missingForBase(config);
}

/** Warns about missing settings of a partly configured rail, if another one is complete. */
function warnOfHalfSet(config: PaymentsConfig, { log }: RootLogger): void {
  const missing = [
    ...(isBegun(config, 'EVM') ? missingForBase(config) : []),
    ...(isBegun(config, 'SOLANA') ? missingForSolana(config) : []),
  ];
  if (missing.length > 0)
    log.warn({ missing }, 'a payment method is not offered because settings are missing');
}

function isBegun(config: PaymentsConfig, chain: 'EVM' | 'SOLANA'): boolean {
  return config[`X402_${chain}_RPC_URL`] !== undefined || config[`X402_${chain}_PAY_TO`] !== undefined;
}

function missingForBase(config: PaymentsConfig): string[] {
  const {
    X402_FACILITATOR_URL: facilitator,
    X402_EVM_SIGNER_KEY: key,
    X402_EVM_SIGNER_KEY_FILE: file,
  } = config;
  const isSubmitted = facilitator !== undefined || key !== undefined || file !== undefined;
  return [
    ...(config.X402_EVM_RPC_URL === undefined ? ['X402_EVM_RPC_URL'] : []),
    ...(config.X402_EVM_PAY_TO === undefined ? ['X402_EVM_PAY_TO'] : []),
    ...(isSubmitted ? [] : ['X402_EVM_SIGNER_KEY_FILE or X402_FACILITATOR_URL']),
  ];
}

function missingForSolana(config: PaymentsConfig): string[] {
  const {
    X402_FACILITATOR_URL: facilitator,
    X402_SOLANA_SIGNER_KEY: key,
    X402_SOLANA_SIGNER_KEY_FILE: file,
  } = config;
  const isSubmitted = facilitator !== undefined || key !== undefined || file !== undefined;
  return [
    ...(config.X402_SOLANA_RPC_URL === undefined ? ['X402_SOLANA_RPC_URL'] : []),
    ...(config.X402_SOLANA_PAY_TO === undefined ? ['X402_SOLANA_PAY_TO'] : []),
    ...(isSubmitted ? [] : ['X402_SOLANA_SIGNER_KEY_FILE or X402_FACILITATOR_URL']),
  ];
}

async function submissionOf(
  config: PaymentsConfig,
  chain: BaseChain,
  store: PaymentStore,
): Promise<Submission> {
  const { X402_FACILITATOR_URL: facilitator } = config;
  if (facilitator !== undefined) return new FacilitatorSubmission(new Facilitator(facilitator), store);
  const stuckMs = config.X402_EVM_REPLACE_MS;
  const { signerOf } = await import('./chains/signers.js');
  return keyed(
    'X402_EVM_SIGNER_KEY',
    config,
    (key) => new OwnSubmission(chain, store, { signer: signerOf(key), stuckMs }),
  );
}

/**
 * Builds something from a key, which is in its setting or in the file that another setting names. An error
 * names the setting, not the key.
 */
function keyed<Made>(
  name: 'X402_EVM_SIGNER_KEY' | 'X402_SOLANA_SIGNER_KEY',
  config: PaymentsConfig,
  make: (key: string) => Made,
): Made {
  const file = config[`${name}_FILE`];
  try {
    return make(file === undefined ? (config[name] ?? '') : readFileSync(file, 'utf8'));
  } catch (error) {
    const where = file === undefined ? name : `${name}_FILE`;
    throw new StartFault(`${where}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}
