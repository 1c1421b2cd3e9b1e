"""Reviews of made-up words: polar words, negators that turn the next polar word, neutral words by Zipf's law."""

import numpy

POLAR = 120  # words of each sign
NEGATORS = 10
NEGATED = 0.2  # share of polar words that a negator turns


def vocabulary_of(seed, words):
    """Which ranks (1 is the most frequent) are positive, negative, negators, neutral; 0 is no word."""
    # The 20 most frequent words are neutral, as articles are.
    ranks = 21 + numpy.random.default_rng([seed, 21]).permutation(words - 20)
    positive, negative, negators, neutral = numpy.split(ranks, [POLAR, 2 * POLAR, 2 * POLAR + NEGATORS])
    return positive, negative, negators, numpy.concatenate([numpy.arange(1, 21), neutral])


def make_review(random, vocabulary, shortest, longest):
    """A list of ranks and its label: 1 if more polar words are meant well than ill. Never a tie."""
    positive, negative, negators, neutral = vocabulary
    length = int(random.integers(shortest, longest + 1))
    chances = 1 / (neutral + 2.0)
    words = random.choice(neutral, size=length, p=chances / chances.sum()).tolist()
    polar = int(random.choice((1, 3, 5)))
    # Places of polar words are even, so that a negator before one takes no other's place.
    places = 2 * random.permutation((length - 1) // 2)[:polar] + 1
    balance = 0
    for place in sorted(places.tolist()):
        meant = 1 if random.random() < 0.5 else -1
        turned = random.random() < NEGATED
        said = -meant if turned else meant
        words[place] = int(random.choice(positive if said > 0 else negative))
        if turned:
            words[place - 1] = int(random.choice(negators))
        balance += meant
    return words, int(balance > 0)


def label_of(words, vocabulary):
    """The label again from the words alone: the law behind the data."""
    positive, negative, negators, _ = (set(part.tolist()) for part in vocabulary)
    balance = 0
    for place, word in enumerate(words):
        sign = (word in positive) - (word in negative)
        turned = place > 0 and words[place - 1] in negators
        balance += -sign if turned else sign
    return int(balance > 0)


def make_reviews(seed, part, count, words, shortest, longest):
    """`count` reviews as an object array of lists of ranks, and labels; parts have random numbers of their own."""
    random = numpy.random.default_rng([seed, 22, part])
    vocabulary = vocabulary_of(seed, words)
    reviews, labels = numpy.empty(count, object), numpy.empty(count, numpy.int64)
    for number in range(count):
        reviews[number], labels[number] = make_review(random, vocabulary, shortest, longest)
    return reviews, labels
