// A tool that an agent may call: a checked input, a result, and the same context as any handler.
import type { TProperties } from 'typebox';
import type { Ctx } from './handler-context.ts';
import type { Options } from './options.ts';
import type { Values } from './schema/schema.ts';

/** A tool by its schema: the input is checked before `run` sees it. */
export interface AgentTool<I extends TProperties, O, X = unknown> extends Options {
  readonly name: string;
  /** What the model reads to decide on a call. */
  readonly description: string;
  readonly input: I;
  /** 'always': a person has to agree to each call. Default 'never'. */
  readonly approval?: 'never' | 'always';
  run(ctx: Ctx & X, input: Values<I>): O | Promise<O>;
}

/** Gives the tool its types; register it with `p.tool`. */
export function defineAgentTool<I extends TProperties, O>(tool: AgentTool<I, O>): AgentTool<I, O> {
  return tool;
}
