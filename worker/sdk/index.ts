// 'svc': the public API for plugins and adapters. Its functions are stateless and make plain data with a mark. No class is ever tested with
// instanceof, because the host has its own copy of these files.

export {
  type AdapterDefinition,
  type AdapterModule,
  type Arrival,
  type Can,
  type CommandInfo,
  defineAdapter,
  type FileContent,
  type FilesApart,
  type Link,
  type Outgoing,
  type SendResult,
} from './adapter.ts';
export { type AgentTool, defineAgentTool } from './agent-tool.ts';
export { accountFailed, giveUp, retryLater, userError } from './errors.ts';
export { defineEvent } from './event-type.ts';
export type { Action, Cell, Counter, Dialog, EventType, State, Task } from './handle.ts';
export type {
  ChatCtx,
  Ctx,
  Json,
  Logger,
  OnceOptions,
  Page,
  Scheduled,
  ScheduledPage,
  When,
} from './handler-context.ts';
export {
  type Body,
  type Button,
  type Content,
  type Conversation,
  type ConversationRef,
  type FileRef,
  type Inbound,
  type Mark,
  type Message,
  type MessageRef,
  mention,
  type Rich,
  type Segment,
  type User,
  type UserRef,
} from './message.ts';
export type { Options } from './options.ts';
export type { Agents, CommandHelp, Commands, Parts } from './parts.ts';
export type { CheckResult, CheckTools } from './platform/account-check.ts';
export type { PlatformSocket } from './platform/platform-socket.ts';
export { readJson, sendResult } from './platform/respond.ts';
export { verifyHmac } from './platform/signature.ts';
export {
  type CommandSpec,
  type CronSpec,
  type DialogSpec,
  type DialogStep,
  type Done,
  definePlugin,
  type Match,
  type MissedEvents,
  type PluginModule,
  type PluginSpec,
  type Reply,
  type RouteSpec,
  type Setup,
  type StateSpec,
  type SubscribeSpec,
  type TaskSpec,
  type WebhookSpec,
} from './plugin.ts';
export type { HeaderMap, HttpAnswer, RawRequest, Verdict } from './request.ts';
export { parse } from './schema/check.ts';
export {
  type ListNote,
  type Note,
  type Range,
  type SchemaBuilder,
  // Declarations of an author's package name these types, wherever typebox is installed.
  type Static,
  type TArray,
  type TBoolean,
  type TEnum,
  type TextNote,
  type TInteger,
  type TNumber,
  type TObject,
  type TOptional,
  type TProperties,
  type TRecord,
  type TSchema,
  type TString,
  type TUnsafe,
  t,
  type Values,
} from './schema/schema.ts';
export type { Secret } from './secret.ts';
export { showDuration } from './text/duration.ts';
export { md } from './text/markup.ts';
export { defineTexts, type Language } from './text/texts.ts';
export {
  type WorkBlocker,
  type WorkBlockerKind,
  type WorkBoard,
  type WorkCommand,
  type WorkFilter,
  type WorkItem,
  type WorkMember,
  type WorkOutcome,
  type WorkRole,
  type Workroom,
  type WorkState,
  workItemChanged,
} from './workroom.ts';
