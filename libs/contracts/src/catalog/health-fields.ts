import { z } from 'zod';

/** How a router finds out whether a backend works. */
export const healthFields = {
  /**
   * How long it may take to begin a stream before another backend of its model is called, in milliseconds.
   * Default: the router's setting.
   */
  beginMs: z.int().positive().optional(),
  /**
   * What is requested to check whether it works: a path from the root of its host that costs it no more than
   * a moment, such as `/health` of vLLM; `false` for no checks. Default: its list of models, or for servers
   * without one, its root; none for the API of a provider.
   */
  healthPath: z.union([z.literal(false), z.string().regex(/^\/[\x21-\x7e]*$/)]).optional(),
  /**
   * Where its metrics are, such as `/metrics` of vLLM, SGLang or llama.cpp: a path from the root of its host.
   * One whose own queue or cache is full is called after the others. Default: only the router's own calls
   * count.
   */
  loadPath: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/)
    .optional(),
};
