import { messageError } from '@svc/api/messages';
import { Problem } from '@svc/contracts/problems';
import type { LineFault } from './line-request.js';

/** What a line got from its endpoint. */
export interface LineResponse {
  readonly status: number;
  readonly requestId: string;
  /** JSON. */
  readonly body: string;
}

/** Which line of which batch a result is for. */
interface ResultOf {
  readonly batchId: string;
  readonly number: number;
  readonly customId: string | undefined;
}

/** How the lines of a result file are written. */
interface ResultLines {
  /** For a line that was sent. */
  responded(of: ResultOf, response: LineResponse): string;
  /** For a line that could not be sent. */
  faulty(of: ResultOf, fault: LineFault): string;
}

const openai: ResultLines = {
  responded(of, { status, requestId, body }) {
    const head = `"status_code":${status},"request_id":${JSON.stringify(requestId)}`;
    return openaiLine(of, `"response":{${head},"body":${inOneLine(body)}},"error":null`);
  },
  faulty(of, fault) {
    const error = { code: fault.code, message: fault.message, line: of.number };
    return openaiLine(of, `"response":null,"error":${JSON.stringify(error)}`);
  },
};

const anthropic: ResultLines = {
  responded({ customId }, { status, body }) {
    const isMade = status < 300;
    const value = `"${isMade ? 'message' : 'error'}":${inOneLine(body)}`;
    return messageLine(customId, `{"type":"${isMade ? 'succeeded' : 'errored'}",${value}}`);
  },
  faulty({ batchId, number, customId }, { message }) {
    const error = messageError(new Problem('INVALID_REQUEST', { message }), `${batchId}_${number}`);
    return messageLine(customId, JSON.stringify({ type: 'errored', error }));
  },
};

export const RESULT_LINES = { openai, anthropic };

/** The line of a message batch whose request was not made. */
export const unmadeLine = (customId: string | undefined, type: 'canceled' | 'expired'): string =>
  messageLine(customId, JSON.stringify({ type }));

function openaiLine({ batchId, number, customId }: ResultOf, rest: string): string {
  const id = `${batchId.replace('batch_', 'batch_req_')}_${number}`;
  return `{"id":"${id}","custom_id":${JSON.stringify(customId ?? null)},${rest}}\n`;
}

const messageLine = (customId: string | undefined, result: string): string =>
  `{"custom_id":${JSON.stringify(customId ?? null)},"result":${result}}\n`;

/** Within JSON, line ends are only between values. */
const inOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, ' ').trim();
