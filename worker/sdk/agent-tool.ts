// A tool that an agent may call. It has a checked input, a result, and the same context as any handler.
import type { TProperties } from 'typebox';
import type { Ctx } from './handler-context.ts';
import type { Options } from './options.ts';
import type { Values } from './schema/schema.ts';

/** A tool. The host checks the input against its schema before `run`. */
export interface AgentTool<I extends TProperties, O, X = unknown> extends Options {
  readonly name: string;
  /** The model reads this to decide on a call. */
  readonly description: string;
  readonly input: I;
  /** 'always': a person must approve each call. Default 'never'. */
  readonly approval?: 'never' | 'always';
  run(ctx: Ctx & X, input: Values<I>): O | Promise<O>;
}

/** Types a tool. Register the result with `p.tool`. */
export function defineAgentTool<I extends TProperties, O>(tool: AgentTool<I, O>): AgentTool<I, O> {
  return tool;
}
