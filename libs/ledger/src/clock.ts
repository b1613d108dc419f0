import { Injectable } from '@nestjs/common';

/** The current time; tests replace it. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }
}

/** A UTC day, such as `2026-11-21`. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}
