"""The tables that the dispatcher reads: what each word of them means.

A call `kernel(a, b)` enters the dispatcher, one native function for all kernels. It walks the
tables of the kernel, one for each piece of native code, until one fits the arguments. A table is
an array of 64-bit words; where a word is an address, the object that owns the table keeps what it
points to alive. `hybridjit.runtime.dispatch.table` writes the tables.
"""

from __future__ import annotations

from enum import IntEnum

# The native function, and the table of the process that it refers to.
DISPATCH = "hj_dispatch"
API = "hj_api"
# What the dispatcher has room for on its stack. Kernels that need more are called through Python.
MAX_SLOTS = 64
MAX_INPUTS = 64
MAX_WORDS = 256
MAX_OUTPUTS = 16
MAX_RESULTS = 16
MAX_DIMENSIONS = 64  # NumPy's own limit
MAX_HELD = 1 + MAX_INPUTS + MAX_OUTPUTS  # a count, and so many arrays
MAX_STACK = 16


class Api(IntEnum):
    """The one table of the process: functions of Python and NumPy, types, and offsets' owners."""

    DIVERT_GUARD = 0  # address of a word: nonzero if a call may have to go through Python
    IS_DIVERTED = 1  # callable without arguments, asked when the guard is set
    SLOW_CALL = 2  # tp_call of the kernel class
    ARRAY_TYPE = 3
    TUPLE_TYPE = 4
    INT_TYPE = 5
    FLOAT_TYPE = 6
    COMPLEX_TYPE = 7
    STR_TYPE = 8
    NONE = 9
    TRUE = 10
    FALSE = 11
    INC_REF = 12
    DEC_REF = 13
    TUPLE_NEW = 14
    TUPLE_SET = 15
    DICT_NEW = 16
    DICT_SET = 17
    DICT_GET = 18
    STORE_RESULT = 19  # callable (result, array of the caller), returns the latter or raises
    GET_ATTRIBUTE = 20
    CALL_NO_ARGS = 21
    CALL = 22
    CLEAR_ERROR = 23
    INT_VALUE = 24
    NEW_INT = 25
    NEW_FLOAT = 26
    NEW_COMPLEX = 27
    COMPARE_STR = 28
    SAVE_THREAD = 29
    RESTORE_THREAD = 30
    ARRAY_ZEROS = 31
    ARRAY_SCALAR = 32
    COMPARE_MEMORY = 33
    COPY_MEMORY = 34
    ERROR_OCCURRED = 35
    ERROR_MATCHES = 36
    ATTRIBUTE_ERROR = 37
    ARRAY_EMPTY = 38
    FREE_MEMORY = 39
    WRAP_MEMORY = 40  # callable (address, dtype, *shape), returns an array that frees it


class Table(IntEnum):
    """The head of a table."""

    NEXT = 0  # the table to try when this one does not fit, or 0
    OWNER = 1  # the Python object that keeps all of this alive
    ENTRY = 2  # the kernel: int32 (int64 *words)
    FAIL = 3  # callable (status, address of the error record), raises
    HITS = 4
    SLOTS = 5  # Python parameters: how many, how many of them positional, their records
    POSITIONAL = 6
    PARAMETERS = 7
    INPUTS = 8  # flat parameters: how many, their records
    INPUT_RECORDS = 9
    ALIASING = 10  # an Aliasing; pairs of inputs: how many, two words each
    PAIRS = 11
    PAIR_RECORDS = 12
    CAPTURES = 13
    CAPTURE_RECORDS = 14
    OUTPUTS = 15
    OUTPUT_RECORDS = 16
    SCALAR_RESULTS = 17  # how many, and the argument word of the first
    SCALAR_WORD = 18
    ERROR_WORD = 19
    RETURNS = 20  # a Returns; results: how many, their records
    RESULTS = 21
    RESULT_RECORDS = 22
    WORK = 23  # iterations for sizes of 1; which argument words to multiply that with
    WORK_SIZES = 24
    WORK_WORDS = 25
    RELEASE_AT = 26  # give up the GIL from so many iterations on
    OUT = 27  # the string "out", if the one result is an output and may be given by the caller
    GUARDS = 28  # captured arrays that an input must not reach into: how many, their records
    GUARD_RECORDS = 29
    FINISH = 30  # callable (*results) that makes what is returned of them, or 0


class Parameter(IntEnum):
    """A Python parameter: its name as an interned string (0: positional only), its default."""

    NAME = 0
    DEFAULT = 1


class InputKind(IntEnum):
    """How a flat parameter is recognised and read."""

    ARRAY = 0
    FLOAT = 1  # float
    FLOAT32 = 2  # float, passed as float32
    INT = 3  # int within LOW..HIGH
    BOOL = 4
    COMPLEX = 5
    SCALAR = 6  # NumPy scalar of up to 8 bytes
    SCALAR_COMPLEX64 = 7
    SCALAR_COMPLEX128 = 8
    CONSTANT = 9  # this object, or an equal string


class Input(IntEnum):
    """A flat parameter. Where the kinds differ, names share words."""

    KIND = 0
    SLOT = 1  # the Python parameter it comes from
    ITEM = 2  # its place in a tuple of ITEMS, which has the type ITEMS_TYPE, or -1
    ITEMS = 3
    WORD = 4  # the argument word it is passed in
    TYPE = 5  # the type it must have, or the constant
    LOW = 6
    HIGH = 7
    DESCRIPTOR = 6  # the usual dtype object; else its number must be one of two
    NUMBER = 7
    OTHER_NUMBER = 8
    NDIM = 9
    FLAG_MASK = 10
    FLAGS = 11
    EXTENTS = 12  # address of one Extent record for each axis
    STRIDES = 13  # the same for the strides; 0 if they follow from the flags
    ITEMSIZE = 14
    SPAN = 15  # a Span
    SPAN_LOW = 16
    SPAN_HIGH = 17
    NESTING = 18  # a Nesting
    ITEMS_TYPE = 19


class Span(IntEnum):
    """How the bytes that an array covers are found."""

    NONE = 0  # nobody asks
    EMPTY = 1
    FIXED = 2  # SPAN_LOW and SPAN_HIGH from the data pointer
    CONTIGUOUS = 3
    STRIDED = 4


class Nesting(IntEnum):
    """How to see that no two elements of an array share memory."""

    KNOWN = 0  # it follows from the rest of the record, or does not matter
    LAST_INSIDE = 1  # each axis steps over the axes behind it
    FIRST_INSIDE = 2  # each axis steps over the axes before it


class ExtentKind(IntEnum):
    """What is known of an extent or a stride."""

    FIXED = 0  # it is VALUE
    FREE = 1  # it is passed in the argument word VALUE
    EQUAL = 2  # it equals the argument word VALUE
    PROGRAM = 3  # it is what the program at address VALUE computes


class Extent(IntEnum):
    """An extent or a stride."""

    KIND = 0
    VALUE = 1


class Step(IntEnum):
    """A step of a program: each has an operand, and works on a stack of numbers."""

    CONSTANT = 0  # push the operand
    WORD = 1  # push an argument word
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4
    LEAST = 5
    GREATEST = 6
    DIVIDE = 7  # by the operand, which is positive, rounding down
    LESS = 8  # 1 if the lower number is less than the upper one, else 0
    EQUAL = 9  # 1 or 0
    CHOOSE = 10  # of the two numbers on top, by the one under them: the lower one unless it is 0


class Aliasing(IntEnum):
    """What the code assumes of arrays that are written."""

    ANY = 0
    DISJOINT = 1
    SHARED = 2


class CaptureKind(IntEnum):
    """Where a captured value lives."""

    NAME = 0  # in the dict OWNER under NAME
    FIELD = 1  # of the object OWNER: the word at OFFSET
    ATTRIBUTE = 2  # of OWNER, called NAME
    ABSENT = 3  # none of the names is in the dict OWNER: those of the language count
    CONTENT = 4  # the array OWNER, whose elements must be those at EXPECTED


class Capture(IntEnum):
    """A value from around the script that must be what it was. Names share words."""

    KIND = 0
    OWNER = 1
    NAME = 2
    EXPECTED = 3
    OFFSET = 2
    VERSION = 2  # of the dict when the names were last looked up
    NAMES = 4
    NAME_COUNT = 5
    VERSION_OFFSET = 6  # where a dict keeps its version, 0 if it has none
    BYTES = 2
    DESCRIPTOR = 4
    NDIM = 5
    EXTENTS = 6


class Guard(IntEnum):
    """A captured array of BYTES, and an input that is written: they must not share memory."""

    INPUT = 0
    ARRAY = 1
    BYTES = 2


class Output(IntEnum):
    """An array that the call makes."""

    DESCRIPTOR = 0
    NDIM = 1
    EXTENTS = 2
    WORD = 3
    ITEMSIZE = 4
    IS_SET = 5  # nonzero if the kernel sets all elements before it reads any: they need no zeros
    IS_DIRECT = 6  # nonzero if it may be an array of the caller that shares no memory with others


class Returns(IntEnum):
    """The shape of the result."""

    NOTHING = 0
    ONE = 1
    TUPLE = 2


class ResultKind(IntEnum):
    """How a result is made."""

    INPUT = 0  # the argument in slot SOURCE, item ITEM
    OUTPUT = 1
    FLOAT = 2
    INT = 3
    BOOL = 4
    COMPLEX = 5
    SCALAR = 6  # a NumPy scalar
    GIVEN = 7  # an array, from its address and its sizes, which follow each other


class Result(IntEnum):
    """A result."""

    KIND = 0
    SOURCE = 1  # slot, output or scalar result
    ITEM = 2
    DESCRIPTOR = 3
    NDIM = 4
    ITEMSIZE = 5


# Two words for each scalar result: the widest is complex128.
RESULT_WORDS = 2
# NumPy's flags of an array.
C_CONTIGUOUS, ALIGNED, WRITEABLE, WARN_ON_WRITE = 0x1, 0x100, 0x400, 1 << 31
# Bit of `nargsf` that says the caller left room before the arguments.
ARGUMENTS_OFFSET = 1 << 63
NATIVE_ORDERS = (ord("="), ord("|"))
