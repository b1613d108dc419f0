// Panels about blockchain nodes, in the format of `service-boards.mjs`. They are part of the inference board.
// Deployments without networks have none of these series.
import { BACKEND, MODEL, least, m, most, rate } from './names.mjs';

const OF_NODES = `${MODEL}=~"#crypto-rpc-.+"`;
const NODE = `{{${MODEL}}} {{${BACKEND}}}`;

export const nodePanels = [
  { row: 'Do blockchain nodes respond?' },
  {
    title: 'Calls of nodes by outcome',
    unit: 'reqps',
    bad: '`failed` or `full` above a few percent.',
    todo: 'Runbook no-healthy-backend.',
    queries: [
      [
        `${rate(m.router.attempts, `${MODEL}, ${BACKEND}, svc_router_outcome`, OF_NODES)} or vector(0)`,
        `${NODE} {{svc_router_outcome}}`,
        '0',
      ],
    ],
  },
  {
    title: 'Reads of clients by source',
    unit: 'reqps',
    bad: 'Never `kept` although clients repeat reads of old blocks: a node does not report its last final block.',
    todo: 'Call the nodes with `eth_getBlockByNumber` and `finalized`.',
    queries: [
      [
        `${rate(m.inference.nodeReads, `${MODEL}, svc_gateway_source`)} or vector(0)`,
        `{{${MODEL}}} {{svc_gateway_source}}`,
        '0',
      ],
    ],
  },
  {
    title: 'Nodes of a wrong chain',
    unit: 'bool_yes_no',
    bad: '1: the node is not used.',
    todo: 'Runbook wrong-chain.',
    queries: [[most(m.router.wrongChain, `${MODEL}, ${BACKEND}`), NODE, '0']],
  },
  {
    title: 'Blocks behind the best node',
    unit: 'short',
    bad: 'Above 10 (150 on Solana), or `maxLagBlocks`: reads call the node last.',
    todo: 'Read the log of the node: it does not follow its chain.',
    queries: [[`${most(m.router.lag, `${MODEL}, ${BACKEND}`)} or vector(0)`, NODE, '0']],
  },
  {
    title: 'Nodes in rotation',
    unit: 'bool_yes_no',
    bad: '0: it failed lately, or is of a wrong chain.',
    todo: 'Runbook no-healthy-backend.',
    queries: [[least(m.router.up, `${MODEL}, ${BACKEND}`, OF_NODES), NODE, '0']],
  },
];
