// Texts that people in chats see, in each language. The host and its own plugins have theirs in chat-texts.ts.

/** As `host.language` has them. */
export type Language = 'en' | 'zh';
type Text = string | ((...values: never[]) => string);
/** The same keys, and functions of the same values. */
type Same<T> = {
  readonly [K in keyof T]: T[K] extends (...values: infer V) => string ? (...values: V) => string : string;
};

/** Texts by language. A key that one language lacks, or has alone, does not compile. Use with `ctx.language`. */
export function defineTexts<T extends Readonly<Record<string, Text>>>(texts: {
  readonly en: T;
  readonly zh: NoInfer<Same<T>>;
}): (language: Language) => Same<T> {
  return (language) => (language === 'zh' ? texts.zh : (texts.en as unknown as Same<T>));
}
