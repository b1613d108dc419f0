import { z } from 'zod';

/** A measurement of an enclave: 48 bytes in hex. */
const Measurement = z
  .string()
  .regex(/^[0-9a-f]{96}$/i, 'must be 96 hex digits')
  .transform((text) => text.toLowerCase());

/** The registers of a quote. Those that are left out may have any value. */
const Measurements = z.strictObject({
  mrtd: Measurement,
  rtmr0: Measurement.optional(),
  rtmr1: Measurement.optional(),
  rtmr2: Measurement.optional(),
  rtmr3: Measurement.optional(),
});

/** What an operator demands of the enclave that a backend runs in. */
export const TeeBackend = z.strictObject({
  /** `simulated` also accepts the simulator and enclaves in debug mode, which protect nothing. */
  accept: z.enum(['hardware', 'simulated']).default('hardware'),
  /** The accepted software, by its measurements. Default: any. */
  measurements: z.array(Measurements).min(1).optional(),
});

export type TeeBackend = z.infer<typeof TeeBackend>;

/** Refuses `tee` for kinds of backends that have no enclave. */
export function checkTee(
  { kind, tee }: { readonly kind: string; readonly tee?: TeeBackend | undefined },
  context: z.RefinementCtx,
): void {
  const refuse = (message: string): void => context.addIssue({ code: 'custom', path: ['tee'], message });
  if (kind === 'vllm-proxy' && !tee)
    refuse('is required for vllm-proxy; `{}` accepts any software in an enclave');
  if (tee && kind !== 'vllm-proxy' && kind !== 'simulator') refuse('is only for vllm-proxy and simulator');
}

interface TeeModel {
  readonly capabilities: { readonly supportsTeeAttestation: boolean; readonly supportsE2EE: boolean };
  readonly backends: readonly { readonly tee?: TeeBackend | undefined }[];
}

/**
 * A model that is offered as protected by enclaves may have no backend outside of them, to which a request
 * could go.
 */
export function checkEnclaves({ capabilities, backends }: TeeModel, context: z.RefinementCtx): void {
  const refuse = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });
  const { supportsTeeAttestation, supportsE2EE } = capabilities;
  if (supportsE2EE && !supportsTeeAttestation)
    refuse(['capabilities', 'supportsE2EE'], 'needs supportsTeeAttestation, which gives clients the key');
  if (!supportsTeeAttestation && !supportsE2EE) return;
  for (const [index, { tee }] of backends.entries())
    if (!tee)
      refuse(['backends', index, 'tee'], 'is required for every backend of a model with attested enclaves');
}
