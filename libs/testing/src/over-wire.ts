import { type MethodWire, type PortWire, decodeProblem, encodeProblem, wireText } from '@svc/contracts';
import { z } from 'zod';

/**
 * A port whose every call and answer goes through JSON text, as between two processes: what comes out shares nothing
 * with what went in, and what is thrown comes out as a problem.
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
  let answer: string;
  try {
    const result = await serve(z.decode(codecs.arguments, JSON.parse(question)));
    answer = wireText(codecs, codecs.result, result);
  } catch (error) {
    throw decodeProblem(JSON.parse(JSON.stringify(encodeProblem(error))));
  }
  return z.decode(codecs.result, JSON.parse(answer));
}
