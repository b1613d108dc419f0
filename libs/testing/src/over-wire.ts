import { type MethodWire, type PortWire, wireText } from '@svc/contracts/ports';
import { decodeProblem, encodeProblem } from '@svc/contracts/problems';
import { z } from 'zod';

/**
 * Wraps a port so that every call and result passes through JSON text, as between two processes: outputs
 * share nothing with inputs, and errors arrive as problems.
 */
export function overWire<Port extends object>(port: Port, wire: PortWire<Port>): Port {
  const methods = Object.entries<MethodWire<unknown[], unknown>>(wire as never).map(([name, codecs]) => {
    const target = port[name as keyof Port] as (...values: unknown[]) => Promise<unknown>;
    return [name, (...values: unknown[]) => call(codecs, values, (received) => target.apply(port, received))];
  });
  return Object.fromEntries(methods) as Port;
}

async function call(
  codecs: MethodWire<unknown[], unknown>,
  values: unknown[],
  serve: (received: unknown[]) => Promise<unknown>,
): Promise<unknown> {
  const question = wireText(codecs, codecs.arguments, values);
  let response: string;
  try {
    const result = await serve(z.decode(codecs.arguments, JSON.parse(question)));
    response = wireText(codecs, codecs.result, result);
  } catch (error) {
    throw decodeProblem(JSON.parse(JSON.stringify(encodeProblem(error))));
  }
  return z.decode(codecs.result, JSON.parse(response));
}
