// Creates the page's elements. Text is never parsed as HTML, and there are no inline styles (Content Security Policy).

export interface Properties {
  readonly class?: string;
  readonly text?: string;
  /** HTML attributes. `true` is an attribute without a value, `false` omits it. */
  readonly attributes?: Readonly<Record<string, string | boolean>>;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  children: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (properties.class !== undefined) made.className = properties.class;
  if (properties.text !== undefined) made.textContent = properties.text;
  for (const [name, value] of Object.entries(properties.attributes ?? {}))
    if (value !== false) made.setAttribute(name, value === true ? '' : value);
  made.append(...children);
  return made;
}

export function button(label: string, press: () => void, properties: Properties = {}): HTMLButtonElement {
  const made = element('button', {
    ...properties,
    text: label,
    attributes: { type: 'button', ...properties.attributes },
  });
  made.addEventListener('click', press);
  return made;
}
