// Asking again what a busy machine may have spoiled.

const MOST_TRIES = 3;

/** The first answer that is as it should be, or the last of three: a command that gives others seconds is asked again, and what is wrong stays wrong. */
export async function askedAgain<T>(ask: () => Promise<T>, isWell: (answer: T) => boolean): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (tries === MOST_TRIES || isWell(answer)) return answer;
  }
}
