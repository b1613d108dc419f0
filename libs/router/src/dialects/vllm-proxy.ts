import type { EnclaveSignature } from '@svc/contracts/messages';
import { boundedJson } from '@svc/runtime';
import { z } from 'zod';
import type { BackendReport, Dialect } from '../dialect/dialect.js';
import { openai } from './openai.js';

const text = z.string();

/** A report of an enclave. Other members, such as those of further keys, are not needed. */
const Report = z.object({
  signing_public_key: text,
  intel_quote: text,
  nvidia_payload: text.optional(),
  event_log: z.unknown(),
  info: z.unknown(),
  tee_provider: text.optional(),
  simulated: z.boolean().optional(),
  warning: text.optional(),
});

const Signature = z.object({
  text,
  signature: text,
  signing_address: text,
  signing_algo: text,
  text_covers: z.literal('fields').optional(),
});

const REPORT_PATH = '/attestation/report';
const SIGNATURE_PATH = '/signature';

/**
 * OpenAI's API behind vllm-proxy, as NEAR AI and Phala run it in enclaves: it decrypts the texts of messages,
 * and encrypts those of the response.
 */
export const vllmProxy: Dialect = {
  ...openai,

  headers(head) {
    const { encryption } = head;
    return {
      ...openai.headers(head),
      ...(encryption && {
        'x-signing-algo': 'ecdsa',
        'x-client-pub-key': encryption.clientKey,
        'x-model-pub-key': encryption.modelKey,
      }),
    };
  },

  enclave: {
    attestation(model, nonce) {
      const query = new URLSearchParams({ model, signing_algo: 'ecdsa', nonce });
      return { method: 'GET', path: `${REPORT_PATH}?${query.toString()}` };
    },

    readReport(body): BackendReport {
      const report = Report.parse(boundedJson(body));
      return {
        publicKey: report.signing_public_key,
        quote: report.intel_quote,
        nvidiaPayload: report.nvidia_payload,
        eventLog: report.event_log,
        info: report.info,
        provider: report.tee_provider,
        simulated: report.simulated,
        warning: report.warning,
      };
    },

    signature(id, algorithm) {
      const query = new URLSearchParams({ signing_algo: algorithm });
      return { method: 'GET', path: `${SIGNATURE_PATH}/${encodeURIComponent(id)}?${query.toString()}` };
    },

    readSignature(body): EnclaveSignature {
      const { text: signed, signature, ...read } = Signature.parse(boundedJson(body));
      return {
        text: signed,
        signature,
        address: read.signing_address,
        algorithm: read.signing_algo,
        textCovers: read.text_covers,
      };
    },
  },
};
