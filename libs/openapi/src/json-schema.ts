export type JsonObject = Record<string, unknown>;

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keywords whose values are data and not schemas. */
export const DATA_KEYWORDS = new Set(['default', 'const', 'enum', 'examples', 'example', 'required']);
