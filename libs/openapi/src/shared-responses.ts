import type { JsonObject } from './json-schema.js';

/** An operation of a document, reduced to its responses. */
interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, JsonObject>;
}

/**
 * Moves the responses that several operations share into components, and refers to them. Each is named after
 * its status and, if a status has several, after the first operation that has it: `Error404`,
 * `Error404OfGetModel`.
 */
export function shareResponses(operations: readonly Operation[]): Record<string, JsonObject> {
  const users = Map.groupBy(
    operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses).map(([status, response]) => ({ operationId, responses, status, response })),
    ),
    ({ status, response }) => `${status} ${JSON.stringify(response)}`,
  );
  const shared: Record<string, JsonObject> = {};
  for (const [first, ...others] of users.values()) {
    if (!first || others.length === 0) continue;
    const { operationId, status, response } = first;
    const plain = `Error${status}`;
    const name = Object.hasOwn(shared, plain)
      ? `${plain}Of${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`
      : plain;
    shared[name] = response;
    for (const { responses } of [first, ...others])
      responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return shared;
}

/** A response of a document, whether inline or shared. */
export function resolveResponse<Response>(
  document: unknown,
  response: Response | { readonly $ref: string },
): Response {
  if (typeof response !== 'object' || response === null || !('$ref' in response)) return response;
  const { components } = document as { components: { responses: Record<string, Response> } };
  const found = components.responses[response.$ref.split('/').at(-1) ?? ''];
  if (!found) throw new RangeError(`${response.$ref} points to nothing`);
  return found;
}
