"""The file `imdb.npz`: object arrays of lists of word ranks, and labels; and the sequences that the network reads."""

import numpy

from common.npz_files import NpzFile
from common.report import InputError
from common.staged import digest_of

NAME, ASSET = "imdb.npz", "imdb"
PINNED = "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"
# Numbers of words in sequences: padding, begin of a review, a word that is too rare; rank r has the number r + SHIFT.
PAD, BEGIN, RARE, SHIFT = 0, 1, 2, 3


def check_digest(path):
    """The real file has one digest. Other bytes are refused before a pickle is read."""
    found = digest_of(path)
    if found != PINNED:
        raise InputError(path, f"has the digest {found}; expected {PINNED}", f"fetch the file again: sabath fetch {ASSET}")


def read_reviews(path):
    """(reviews, labels) of the training and of the test part: lists of ranks from 1 on, labels 0 and 1."""
    file, parts = NpzFile(path), []
    for part in ("train", "test"):
        reviews = file.lists(f"x_{part}")
        labels = file.array(f"y_{part}", "iu", (len(reviews),), f"{len(reviews)} integers, one for each review of 'x_{part}'")
        if not numpy.isin(labels, (0, 1)).all():
            raise InputError(path, f"array 'y_{part}' has labels other than 0 (negative) and 1 (positive)")
        for number, review in enumerate(reviews):
            if review and min(review) < 1:
                raise InputError(path, f"array 'x_{part}': review {number} has the word {min(review)}; expected ranks from 1 on")
        parts.append((reviews, labels))
    return parts


def sequence_of(review, words):
    """Numbers of one review as the network reads it, before it is cut and padded."""
    return [BEGIN, *(rank + SHIFT if rank + SHIFT < words else RARE for rank in review)]


def sequences_of(reviews, words, length):
    """An array (review, length): the last `length` numbers of each, padded in front."""
    result = numpy.full((len(reviews), length), PAD, numpy.int32)
    for row, review in zip(result, reviews):
        numbers = sequence_of(review, words)[-length:]
        row[length - len(numbers) :] = numbers
    return result


def bags_of(sequences, words):
    """An array (review, word): 1 where the word is there."""
    bags = numpy.zeros((len(sequences), words), numpy.float64)
    rows = numpy.repeat(numpy.arange(len(sequences)), sequences.shape[1])
    columns = sequences.ravel()
    used = (columns > RARE) & (columns < words)
    bags[rows[used], columns[used]] = 1
    return bags
