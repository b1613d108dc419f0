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

/** The line of a result file, in OpenAI's form, for a line that was sent. */
export function respondedLine(of: ResultOf, { status, requestId, body }: LineResponse): string {
  const head = `"status_code":${status},"request_id":${JSON.stringify(requestId)}`;
  return line(of, `"response":{${head},"body":${inOneLine(body)}},"error":null`);
}

/** The same for a line that was not sent. */
export function faultyLine(of: ResultOf, fault: LineFault): string {
  const error = { code: fault.code, message: fault.message, line: of.number };
  return line(of, `"response":null,"error":${JSON.stringify(error)}`);
}

function line({ batchId, number, customId }: ResultOf, rest: string): string {
  const id = `${batchId.replace('batch_', 'batch_req_')}_${number}`;
  return `{"id":"${id}","custom_id":${JSON.stringify(customId ?? null)},${rest}}\n`;
}

/** Within JSON, line ends are only between values. */
const inOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, ' ').trim();
