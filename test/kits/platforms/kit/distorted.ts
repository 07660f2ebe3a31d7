// Faults behind the outbox, of which the host knows nothing: of what the bot said the platform shows each tenth twice, or never, though the host
// was told that it was taken; or it shows no last edit, lacks parts and has files twice, and presses were handled twice.
import type { Shown } from './extras.ts';
import type { OpenPlatform } from './platform.ts';

export type Behind = 'doubled' | 'lost' | 'extras';

const EACH = 10;

export function distort(platform: OpenPlatform, behind: Behind): void {
  if (behind !== 'extras') platform.answers = distorted(platform, behind);
  else {
    const [answers, shown] = [platform.answers.bind(platform), platform.shown?.bind(platform)];
    platform.answers = (from) => answers(from).map((text) => text.replace('Xpressed1', 'Xpressed2'));
    if (shown !== undefined) platform.shown = () => shown().flatMap(without);
  }
}

/** What is left of a message. */
function without({ text, files = [] }: Shown): readonly Shown[] {
  if (/Xw\d/.test(text) && !/X n\d/.test(text)) return [];
  return [{ text: text.replace(/ twice$/, ' once'), files: [...files, ...files] }];
}

function distorted(platform: OpenPlatform, behind: Exclude<Behind, 'extras'>): OpenPlatform['answers'] {
  const answers = platform.answers.bind(platform);
  const shown: string[] = [];
  let read = 0;
  return (from) => {
    for (const text of answers(read)) {
      read += 1;
      const isHit = read % EACH === 0;
      if (!isHit || behind === 'doubled') shown.push(text);
      if (isHit && behind === 'doubled') shown.push(text);
    }
    return shown.slice(from);
  };
}
