import { readFileSync } from 'node:fs';
import { StartFault } from '@svc/runtime';
import { z } from 'zod';
import type { PaymentStore } from '../records/payment.store.js';
import type { Rail } from '../settlement/rail.js';

/** The settings that every rail has, by their names without its prefix. */
interface RailSettings {
  readonly RPC_URL: string;
  readonly PAY_TO: string;
}

/** What a rail is opened with. */
export interface Opening<Settings extends RailSettings = RailSettings> {
  readonly settings: Settings;
  readonly store: PaymentStore;
  readonly facilitatorUrl: string | undefined;
  /** Whether a key for a signer of our own is set. */
  readonly hasKey: boolean;
  /** Builds something from that key. An error names the setting, not the key. */
  readonly withKey: <Made>(make: (key: string) => Made) => Made;
}

/** What there is to know of a way to pay before it is opened. All of its settings are optional. */
export interface RailKind<Settings extends RailSettings = RailSettings> {
  /** Its name in offers, in the books and in metrics. It never changes. */
  readonly name: string;
  /** CAIP-2. */
  readonly network: string;
  /** Of the names of its settings, such as X402_SOLANA. */
  readonly prefix: string;
  readonly settings: z.ZodRawShape;
  /** Called with complete settings. Loads the code of the rail. */
  open(opening: Opening<Settings>): Promise<Rail>;
}

/** The settings of these rails, by their full names. */
export const settingsOfRails = (kinds: readonly RailKind[]): z.ZodRawShape =>
  Object.fromEntries(
    kinds.flatMap(({ prefix, settings }) =>
      Object.entries(settings).map(([name, setting]) => [`${prefix}_${name}`, setting]),
    ),
  );

/** The settings for an address of our own and a signer, which every rail has. */
export const commonSettings = (texts: {
  readonly rpcUrl: string;
  readonly payTo: string;
  readonly address: z.ZodString;
  readonly keyFile: string;
  readonly key: string;
}) => ({
  RPC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(texts.rpcUrl),
  PAY_TO: texts.address.optional().describe(texts.payTo),
  SIGNER_KEY_FILE: z.string().min(1).optional().describe(texts.keyFile),
  SIGNER_KEY: z.string().optional().describe(texts.key),
});

type Config = Readonly<Record<string, unknown>>;

/** Where the submission of payments comes from, besides their own signers. */
interface OpeningParts {
  readonly store: PaymentStore;
  readonly facilitatorUrl: string | undefined;
}

/** A rail as configured. */
export class ConfiguredRail {
  private readonly settings: Config;

  constructor(
    private readonly kind: RailKind,
    config: Config,
    private readonly parts: OpeningParts,
  ) {
    const names = Object.keys(kind.settings);
    this.settings = Object.fromEntries(names.map((name) => [name, config[`${kind.prefix}_${name}`]]));
  }

  /** Whether any of it is configured. */
  get isBegun(): boolean {
    return this.has('RPC_URL') || this.has('PAY_TO');
  }

  /** The settings that are missing before it can be offered. */
  get missing(): readonly string[] {
    const { prefix } = this.kind;
    return [
      ...['RPC_URL', 'PAY_TO'].filter((name) => !this.has(name)).map((name) => `${prefix}_${name}`),
      ...(this.hasKey || this.parts.facilitatorUrl !== undefined
        ? []
        : [`${prefix}_SIGNER_KEY_FILE or X402_FACILITATOR_URL`]),
    ];
  }

  open(): Promise<Rail> {
    const { settings, hasKey } = this;
    return this.kind.open({
      ...this.parts,
      settings: settings as unknown as RailSettings,
      hasKey,
      withKey: (make) => this.withKey(make),
    });
  }

  private get hasKey(): boolean {
    return this.has('SIGNER_KEY') || this.has('SIGNER_KEY_FILE');
  }

  private has(name: string): boolean {
    return this.settings[name] !== undefined;
  }

  private withKey<Made>(make: (key: string) => Made): Made {
    const { SIGNER_KEY: key, SIGNER_KEY_FILE: file } = this.settings as Record<string, string | undefined>;
    try {
      return make(file === undefined ? (key ?? '') : readFileSync(file, 'utf8'));
    } catch (error) {
      const name = `${this.kind.prefix}_SIGNER_KEY${file === undefined ? '' : '_FILE'}`;
      throw new StartFault(`${name}: ${error instanceof Error ? error.message : 'cannot be read'}`);
    }
  }
}
