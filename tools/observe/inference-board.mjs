// The dashboard of models and backends, in the format of `service-boards.mjs`.
import { batchPanels } from './batch-panels.mjs';
import { mediaPanels } from './media-panels.mjs';
import { BACKEND, MODEL, STATUS, least, m, quantile, rate, rise, total } from './names.mjs';
import { nodePanels } from './node-panels.mjs';

export const inference = {
  title: 'Inference',
  variables: ['model', 'backend'],
  panels: [
    { row: 'How fast are the models?' },
    {
      title: 'Time to first token by model, p95',
      unit: 's',
      bad: 'Above 2.5 s.',
      todo: 'Compare its backends below; remove the slow one from the catalogue, or add one.',
      queries: [[quantile(0.95, m.inference.firstToken, MODEL), `{{${MODEL}}}`, '+']],
    },
    {
      title: 'Time to first chunk by backend, p95',
      unit: 's',
      bad: 'One backend far above the others.',
      todo: 'Check its own queue; lower its `maxInFlight` or its weight in the catalogue.',
      queries: [
        [quantile(0.95, m.router.firstChunk, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+'],
      ],
    },
    {
      title: 'Time per output token, p95',
      unit: 's',
      bad: 'An increase with the load: the backend is at its limit.',
      todo: 'Add a backend, or lower `maxInFlight`.',
      queries: [
        [quantile(0.95, m.inference.perToken, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+'],
      ],
    },
    {
      title: 'Tokens per second by backend',
      unit: 'suffix: tokens/s',
      bad: 'A decrease at the same number of requests.',
      todo: 'Check the backend itself.',
      queries: [
        [
          rate(`${m.inference.tokens}_sum`, `${MODEL}, ${BACKEND}`, 'gen_ai_token_type="output"'),
          `{{${MODEL}}} {{${BACKEND}}}`,
          '+',
        ],
      ],
    },
    {
      title: 'Implausible token counts by backend',
      unit: 'short',
      bad: 'Any: the `usage` of this backend is implausible, so the gateway charged its own count.',
      todo: 'Compare `usage` with the text in question (log lines `implausible token counts`); fix or replace the backend.',
      queries: [
        [
          `${rise(m.inference.doubted, `${MODEL}, ${BACKEND}, svc_doubt`)} or vector(0)`,
          `{{${MODEL}}} {{${BACKEND}}} {{svc_doubt}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Whole completions, p95',
      unit: 's',
      bad: 'An increase without longer completions.',
      todo: 'Find out whether the first token or the time per token is slow.',
      queries: [[quantile(0.95, m.inference.duration, MODEL), `{{${MODEL}}}`, '+']],
    },
    { row: 'Which backends fail?' },
    {
      title: 'Completions by problem',
      unit: 'reqps',
      bad: 'MODEL_AT_CAPACITY: no backend has free capacity. MODEL_OFFLINE: none can be reached.',
      todo: 'Runbook no-healthy-backend.',
      queries: [
        [
          rate(`${m.inference.duration}_count`, `${MODEL}, error_type`, 'error_type!=""'),
          `{{${MODEL}}} {{error_type}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Completions by a model to fall back to',
      unit: 'reqps',
      bad: 'A steady rate for one model: its backends fail, and clients pay the price of another model.',
      todo: 'Look for the model among Completions by problem and Backends in rotation; mend or add a backend.',
      queries: [
        [
          `${rate(m.inference.fallbacks, `${MODEL}, gen_ai_response_model`)} or vector(0)`,
          `{{${MODEL}}} to {{gen_ai_response_model}}`,
          '+',
        ],
      ],
    },
    {
      title: 'Attempts by outcome',
      unit: 'reqps',
      bad: '`failed` or `full` above a few percent.',
      todo: 'Test the backend by hand: runbook no-healthy-backend has the command.',
      queries: [
        [
          rate(m.router.attempts, `${BACKEND}, svc_router_outcome`),
          `{{${BACKEND}}} {{svc_router_outcome}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Error responses of backends by status',
      unit: 'reqps',
      bad: '4xx proportional to the requests: the backend rejects everything.',
      todo: 'Runbook backend-rejects.',
      queries: [
        [
          rate(m.router.errors, `${MODEL}, ${BACKEND}, ${STATUS}`),
          `{{${MODEL}}} {{${BACKEND}}} {{${STATUS}}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Retries and ejections',
      unit: 'short',
      bad: 'More than occasional ones: a backend is unstable.',
      todo: 'Remove it from the catalogue, which is read again at once, and read its log.',
      queries: [
        [`${rise(m.router.retries, MODEL)} or vector(0)`, `retries {{${MODEL}}}`, '0'],
        [
          `${rise(m.router.ejections, `${MODEL}, ${BACKEND}`)} or vector(0)`,
          `ejected {{${MODEL}}} {{${BACKEND}}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Backends in rotation',
      unit: 'bool_yes_no',
      bad: '0: it gets requests only if no other backend is left.',
      todo: 'Runbook no-healthy-backend.',
      queries: [[least(m.router.up, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '0']],
    },
    { row: 'Are backends healthy?' },
    {
      title: 'Ejections by reason',
      unit: 'short',
      bad: '`down`: its checks fail. `slow`, `errors`: it does much worse than the others.',
      todo: 'Read the reason at the desk, and take the backend out of service there.',
      queries: [
        [
          `${rise(m.router.ejections, `${MODEL}, ${BACKEND}, svc_router_reason`)} or vector(0)`,
          `{{${MODEL}}} {{${BACKEND}}} {{svc_router_reason}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Failed checks',
      unit: 'short',
      bad: 'Steady ones of a backend that serves: its `healthPath` is wrong.',
      todo: 'Request the path by hand.',
      queries: [
        [
          `${rise(m.router.checks, `${MODEL}, ${BACKEND}`, 'svc_router_outcome="failed"')} or vector(0)`,
          `{{${MODEL}}} {{${BACKEND}}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Out of service by an operator',
      unit: 'bool_yes_no',
      bad: 'A backend that was to be back.',
      todo: 'Put it back: `svcctl set backend-state MODEL NAME --state active`.',
      queries: [[total(m.router.drained, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+']],
    },
    {
      title: 'Retries refused',
      unit: 'short',
      bad: 'Any: most backends of a model fail at the same time.',
      todo: 'Runbook no-healthy-backend.',
      queries: [[`${rise(m.router.retriesRefused, MODEL)} or vector(0)`, `{{${MODEL}}}`, '0']],
    },
    { row: 'Do backends have capacity?' },
    {
      title: 'In flight by backend',
      unit: 'short',
      bad: 'At its limit for long.',
      todo: 'Add a backend, or raise `maxInFlight` if the backend has free capacity.',
      queries: [[total(m.router.inFlight, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '0']],
    },
    {
      title: 'Free capacity by backend',
      unit: 'short',
      bad: '0: requests go elsewhere, or are refused.',
      todo: 'As for In flight.',
      queries: [[total(m.router.room, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+']],
    },
    {
      title: 'Cached prompt tokens by backend',
      unit: 'percentunit',
      bad: 'A fall at the same requests: its cache is too small, or prompts change at their beginning.',
      todo: 'Check that it caches prefixes; give it more memory for its cache, or add a backend.',
      queries: [
        [
          `${rate(m.router.promptTokens, `${MODEL}, ${BACKEND}`, 'svc_router_cache="cached"')} / ${rate(m.router.promptTokens, `${MODEL}, ${BACKEND}`)}`,
          `{{${MODEL}}} {{${BACKEND}}}`,
          '+',
        ],
      ],
    },
    {
      title: 'Why backends are chosen',
      unit: 'reqps',
      bad: 'Mostly `load` where clients have conversations: the beginnings of their prompts differ.',
      todo: 'Put what is the same in all prompts first; `sharesPrompts` if accounts have the same prompts.',
      queries: [
        [rate(m.router.choices, `${MODEL}, svc_router_reason`), `{{${MODEL}}} {{svc_router_reason}}`, '0'],
      ],
    },
    ...nodePanels,
    ...mediaPanels,
    ...batchPanels,
  ],
};
