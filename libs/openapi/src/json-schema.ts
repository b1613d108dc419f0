export type JsonObject = Record<string, unknown>;

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
