import type { PipeTransform } from '@nestjs/common';
import { validate } from '@svc/contracts';
import type { z } from 'zod';

/** Reads a parameter of a controller's method by a schema of the contract. Refuses: INVALID_REQUEST. */
export class Valid<Schema extends z.ZodType> implements PipeTransform<unknown, z.infer<Schema>> {
  constructor(private readonly schema: Schema) {}

  transform(value: unknown): z.infer<Schema> {
    return validate(this.schema, value);
  }
}
