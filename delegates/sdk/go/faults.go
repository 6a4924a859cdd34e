package plexus

import "errors"

// Codes of errors, as the CNI specification has them (section 5, "Error"). Codes from 100 are the delegate's own.
const (
	CodeIncompatibleVersion uint32 = 1
	CodeUnsupportedField    uint32 = 2
	CodeUnknownContainer    uint32 = 3
	CodeInvalidEnvironment  uint32 = 4
	CodeIOFailure           uint32 = 5
	CodeDecodingFailure     uint32 = 6
	CodeInvalidConfig       uint32 = 7
	CodeTryAgain            uint32 = 11
	CodeNotAvailable        uint32 = 50
	CodeLimited             uint32 = 51
	// CodeInternal is the code of an error that is not a Fault, as in plugins with the CNI project's Go packages.
	CodeInternal uint32 = 999
)

// NewFault makes an error with a code.
func NewFault(code uint32, msg string) *Fault { return &Fault{Code: code, Msg: msg} }

// Error answers the message.
func (fault *Fault) Error() string { return fault.Msg }

// FaultOf answers the fault that the runtime gets for an error. The fault within a wrapped error gives the code and the details.
func FaultOf(err error) Fault {
	var fault *Fault
	if !errors.As(err, &fault) || fault == nil {
		return Fault{Code: CodeInternal, Msg: err.Error()}
	}
	return Fault{Code: fault.Code, Msg: err.Error(), Details: fault.Details}
}
